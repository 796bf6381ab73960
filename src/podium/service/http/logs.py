"""The service's log: a JSON object a line on standard error, with the id of the request it belongs to."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from podium.service.http.request_ids import current_request_id


class JsonFormatter(logging.Formatter):
    """Writes a record as a line of JSON; `fields` of a record are members of their own."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": moment, "level": record.levelname.lower(), "logger": record.name}
        fields = getattr(record, "fields", None)
        line |= {"message": record.getMessage()} if fields is None else fields
        request_id = current_request_id.get()
        if request_id is not None:
            line["request_id"] = request_id
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_config(*, requests: bool) -> dict[str, Any]:
    """Return the configuration of the log.

    Args:
        requests: log each request that is answered.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "podium": {"level": "INFO"},
            "podium.requests": {"level": "INFO" if requests else "WARNING"},
            "uvicorn": {"level": "WARNING"},
        },
    }
