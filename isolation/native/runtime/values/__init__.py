"""What Python's values do in compiled code: lists, sets, dictionaries, arrays, numbers and texts."""
