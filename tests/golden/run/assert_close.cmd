run assert_close.py
