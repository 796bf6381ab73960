"""What is written: submissions, registered matches, and the administration of pools."""
