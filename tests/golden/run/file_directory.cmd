run .
