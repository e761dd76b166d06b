// Package commandline parses the command line of a program with subcommands into structs, whose tags describe it.
//
//	var c struct {
//		Rows rowsCommand `cmd:"" help:"Print the rows of a table."`
//	}
//	type rowsCommand struct {
//		Top   int    `default:"5" placeholder:"N" help:"The number of rows."`
//		Table string `arg:"" help:"The file of the table."`
//	}
//
//	root := commandline.New("table", "Tables in text files.", &c)
//	command, err := root.Parse(os.Args[1:]) // such as rows -top=3 a.csv
//	command.Target()                        // &c.Rows
//
// Each exported field is a subcommand, a positional argument or a flag. Its name in the command line is that of the field
// with dashes (MaxTokens is max-tokens), or the tag name. The tags are:
//
//	cmd          the field, a struct, is a subcommand
//	arg          the field is a positional argument
//	embed        the fields of the field, a struct, belong to the surrounding command, as those of an embedded struct do
//	name         the name, if not that of the field
//	short        a second name of a flag, of one letter
//	help         a sentence about the field
//	placeholder  what stands for the value of a flag in the help
//	default      the value without the flag
//	env          the environment variable that sets the flag, unless the command line does
//	enum         the allowed values, separated by commas
//	required     the flag must be set
//	xor          at most one of the flags with the same value of this tag may be set
//	sep          what separates elements of a slice in the value of a flag: a comma, unless the tag says none
//	optional     the positional argument may be missing
//	passthrough  the argument, a slice, takes the rest of the line as it is, with flags
//
// A field of the type Given is none of these: Parse stores there which flags are set.
//
// A *string is nil unless the command line gives it a value, which may be empty. Each positional argument is one element of a slice.
//
// A method Help of a subcommand returns the text of its help page. Flags have one dash or two, and may follow positional
// arguments. After the argument "--", all arguments are positional.
//
// The package calls no methods by names that it computes, as other packages for such structs do: the linker then keeps every exported method of
// every type of the program.
package commandline
