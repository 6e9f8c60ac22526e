; Keys: those of the top, and below them those that hold an object.
(document (object (pair key: (string (string_content) @name) @head) @definition.key))
(document (object (pair value: (object (pair key: (string (string_content) @name) @head value: (object))
  @definition.key))))

; Commands: scripts of a package
((document (object (pair key: (string (string_content) @_scripts) value: (object
  (pair key: (string (string_content) @name) @head value: (string)) @definition.command))))
  (#eq? @_scripts "scripts"))

; What the hash of a key leaves out, and keeps to the letter
(comment) @comment
(string_content) @verbatim
