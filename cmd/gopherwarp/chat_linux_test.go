package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestChatInTerminal talks in a terminal, where the cursor keys edit lines.
func TestChatInTerminal(t *testing.T) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer screen.Close()
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	chat := exec.CommandContext(t.Context(), os.Args[0], "chat", "-model", llamatest.Write(t, llamatest.Options{}))
	chat.Env = append(os.Environ(), asCommand+"=1", "GOPHERWARP_DEVICE=cpu", "TERM=xterm", "COLUMNS=")
	chat.Stdin, chat.Stdout, chat.Stderr = terminal, terminal, terminal
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	shown := bufio.NewReader(screen)
	for _, x := range []struct {
		shows bool // the list of commands, before the prompt
		typed string
	}{{false, "/hlp\x1b[D\x1b[De\r"}, {true, "/clear\r"}, {false, "\x1b[A\x1b[A\r"}, {true, "/exit\r"}} {
		text, err := shown.ReadString('>')
		if err != nil || strings.Contains(text, "forget the conversation") != x.shows {
			t.Fatalf("before %q, the screen shows %q, %v", x.typed, text, err)
		}
		if _, err := io.WriteString(screen, x.typed); err != nil {
			t.Fatal(err)
		}
	}
	if err := chat.Wait(); err != nil {
		t.Error(err)
	}
}
