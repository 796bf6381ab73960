"""What a newer version does to the pools of an earlier one."""
