; Headings; each spans its section.
(section . (atx_heading heading_content: (inline) @name) @head) @definition.heading
(setext_heading heading_content: (paragraph (inline) @name)) @definition.heading

; Documentation: the first paragraph
(section . (atx_heading) . (paragraph) @doc) @documented

; What the hash of a section keeps to the letter
(code_fence_content) @verbatim
(indented_code_block) @verbatim
