"""The notebooks run from the first cell to the last, and store no output."""

from pathlib import Path

import pytest

import podium

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")  # from the kernel's libraries
def test_a_notebook_runs_to_the_end(path):
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    assert all(cell.execution_count for cell in cells)


def test_there_are_notebooks():
    assert NOTEBOOKS


def test_a_notebook_completes_only_public_names():
    """After "podium." Tab offers its public names, not the packages that happen to be imported."""
    assert [name for name in dir(podium) if not name.startswith("_")] == sorted([*podium.__all__, "importers"])
