"""The derived indexes: text (tantivy) and vectors. They follow the change feed and are disposable."""
