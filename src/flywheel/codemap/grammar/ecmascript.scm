; What JavaScript and TypeScript share; read after the file of either

; Functions that another one wraps: memo(() => ...), createSelector([...], (state) => ...)
(program [
  (lexical_declaration (variable_declarator name: (identifier) @name value: (call_expression function: (_) @_wrap
    arguments: (arguments [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))) @definition.function)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name value: (call_expression
    function: (_) @_wrap arguments: (arguments [
      (arrow_function body: (_) @body) (function_expression body: (_) @body)]))) @definition.function))]
  (#match? @_wrap "^(React[.])?[A-Za-z_$][A-Za-z0-9_$]*$"))

; What a file gives by default and does not name: `definitions.parse` calls it like the file
(export_statement "default" @name value: [
  (arrow_function body: (_) @body) (function_expression !name body: (_) @body)] @definition.function)
(export_statement "default" @name value: (class !name body: (_) @body) @definition.class)
(export_statement value: [(arrow_function) (function_expression) (class)] @inner) @outer

; Methods of object literals; arrow functions where the object has a name
(object (method_definition name: (_) @name) @definition.method)
(variable_declarator value: (object (pair key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))
(variable_declarator value: (object (pair value: (object (pair key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))))
(assignment_expression right: (object (pair key: (property_identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method))
(pair key: (property_identifier) @name value: (object [(method_definition)
  (pair value: [(arrow_function) (function_expression)])])) @container
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments (object)))) @container
(variable_declarator name: (identifier) @name value: (object)) @container

(lexical_declaration . (variable_declarator) @inner .) @outer
(variable_declaration . (variable_declarator) @inner .) @outer
