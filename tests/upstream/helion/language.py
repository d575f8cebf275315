# Only timed, beside TileLang's kernel.
