// Package editor reads lines from a terminal. The user edits each line with the cursor keys and Emacs's keys, and finds earlier lines with the
// keys Up and Down. Pasted text of several lines is one line of input.
//
//	e := editor.New(os.Stdin, os.Stdout, interrupts)
//	line, err := e.ReadLine("> ")
//
// Package golang.org/x/term edits the line. This package adds the mode of the terminal, which is raw only while ReadLine runs, and what raw
// terminals lack: Ctrl-C, Ctrl-Z, signals that end the program, and line breaks in pasted text.
//
// The cursor is wrong in lines with characters of two columns, such as Chinese ones, because x/term takes each character for one column.
package editor
