; Tables and the keys before the first of them.
(table . "[" . [(bare_key) @name (quoted_key) @name (dotted_key (_) @scope (_) @name)] . "]" @head) @definition.key
(table_array_element . "[[" . [(bare_key) @name (quoted_key) @name (dotted_key (_) @scope (_) @name)] . "]]" @head)
  @definition.key
(document (pair . [(bare_key) (quoted_key) (dotted_key)] @name @head) @definition.key)

; Commands: entry points of a Python project
((table . "[" . (dotted_key) @_table (pair . [(bare_key) (quoted_key)] @name @head) @definition.command)
  (#any-of? @_table "project.scripts" "project.gui-scripts" "tool.poetry.scripts"))

; Documentation
(document . (comment) @module.head)

; What the hash of a key leaves out, and keeps to the letter
(comment) @comment
(string) @verbatim
