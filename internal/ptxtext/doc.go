// Package ptxtext packs the PTX that generated files contain, to a tenth of its size.
//
//	packed := ptxtext.Pack(".version 7.0\n.target sm_70\n...")
//	text, err := ptxtext.Unpack(packed)
//
// Git stores the versions of a file as differences. Compressed data differs everywhere after a
// change of one character, so the packed form is local: it consists of lines, which stand for lines of the text, and
// nothing in a line depends on lines far away, with the exceptions below. Packed text consists of
// newlines and printable ASCII without the backquote, so it can be in a raw string of Go.
//
// The first line is the header: "packed2", the length of the text in bytes, and the name of its
// kernel. The other lines consist of codes. A code of one or two bytes
// stands for a phrase of the table in phrases.go. A phrase consists of ASCII characters, which
// stand for themselves, and of symbols from 0x80:
//
//   - Registers and labels are relative. PTX of this project numbers registers of each class in the
//     order of their definition. A symbol stands for the next register of its class, or for the
//     register that was defined n registers of that class before. So a new instruction does not
//     change the lines after it, while in plain text it renumbers all registers that follow.
//   - The name of the header.
//   - One of the 92 latest different directives with a tab, which are mostly .loc lines. A digit after the
//     code counts them from the latest one.
//   - Any byte, in two digits after the code.
//
// A digit is one of the 92 bytes that codes consist of. The tab at the start of a line and the
// semicolon at its end are left out; the byte '!' at the start or the end of a line means that the
// text has none.
//
// Many kernels have equal lines, since registers are relative: those of an unrolled loop, the variants for different GPUs, the instances for
// different types. Lines that are already in the text, or in another text, its base, are copies: a line starts with a
// space for each of them (see copy.go). A Library finds bases for the texts of a package. Unpack needs the bases of a text, and the bases of those:
//
//	var library ptxtext.Library
//	sum32, _ := library.Add(sum32PTX)
//	sum64, base := library.Add(sum64PTX) // base is 0, the number of sum32
//	text, err := ptxtext.Unpack(sum32, sum64)
//
// The version in the header is that of the table and of these rules. Programs contain text that
// older versions of the compiler packed, so a released table never changes: a new table gets a new
// version and a file of its own, and Unpack reads all of them. The program in the folder train computes a table
// from the PTX of a repository.
package ptxtext
