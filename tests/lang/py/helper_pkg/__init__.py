top = "package top"
