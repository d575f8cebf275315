run eager_forms.tile
