dump --stage=cuda axpy.tile --kernel axpy
