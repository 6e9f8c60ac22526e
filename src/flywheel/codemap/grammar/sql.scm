; Definitions. The first pattern that matches a node gives it its kind.
(create_table (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (column_definitions)? @body) @definition.table
(create_view (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (create_query)? @body) @definition.view
(create_materialized_view (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (create_query)? @body) @definition.view
(create_function . (_)* . (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (function_body)? @body) @definition.function
(create_procedure . (_)* . (object_reference schema: (identifier)? @scope name: (identifier) @name)
  (procedure_body)? @body) @definition.function
(create_trigger (keyword_trigger) . (_)? . (object_reference name: (identifier) @name)) @definition.trigger
(create_type (object_reference schema: (identifier)? @scope name: (identifier) @name)) @definition.type
(create_index column: (identifier) @name) @definition.index
(create_sequence (object_reference schema: (identifier)? @scope name: (identifier) @name)) @definition.sequence
(create_schema (identifier) @name) @definition.schema

(statement . [(create_table) (create_view) (create_materialized_view) (create_function) (create_procedure)
  (create_trigger) (create_type) (create_index) (create_sequence) (create_schema)] @inner) @outer

; Documentation
(program . [(comment) (marginalia)] @module.head)

; What the hash of a definition leaves out, and keeps to the letter
(comment) @comment
(marginalia) @comment
(literal) @verbatim

; References
(relation (object_reference name: (identifier) @reference))
(from (object_reference name: (identifier) @reference))
(invocation (object_reference name: (identifier) @reference))
(insert (object_reference name: (identifier) @reference))
(column_definition (object_reference name: (identifier) @reference))
(create_index (object_reference name: (identifier) @reference))
(alter_table (object_reference name: (identifier) @reference))
