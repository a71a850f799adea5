"""The bundled model kestrel-nano and the recipe that made it."""
