"""What is at stake in a race to come: what each place would bring."""
