// Package jinja compiles and runs the Jinja templates of chat models, as Python's jinja2 does with the settings that the package
// transformers chooses: trim_blocks, lstrip_blocks, loop controls, and the block generation. Printed values, whitespace, scopes and errors
// follow jinja2. Templates cannot include or extend other templates, and cannot escape HTML automatically.
//
//	t, err := jinja.Compile("{% for x in list %}{{ x | upper }},{% endfor %}")
//	if err != nil {
//		return err
//	}
//	text, err := t.Render(map[string]jinja.Value{"list": jinja.NewList("a", "b")}, nil) // "A,B,"
//
// Templates come with models from other people. Therefore every operation counts the steps that it takes and the bytes that it allocates,
// before it allocates them, and the template fails with an error that names the limit. Recursion is limited, too.
package jinja
