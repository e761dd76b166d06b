package build

import (
	"errors"
	"flag"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		args string
		want command
	}{
		{"", command{packages: []string{"."}}},
		{"-check ./...", command{check: true, packages: []string{"./..."}}},
		{"--check ./a ./b -a", command{check: true, rebuild: true, packages: []string{"./a", "./b"}}},
		{"-S -rebuild -contract=off -checks on .", command{listing: true, rebuild: true, contract: "off", checks: "on", packages: []string{"."}}},
		{"-report .", command{report: "text", packages: []string{"."}}},
		{"-report=json", command{report: "json", packages: []string{"."}}},
		{"a -- -b -- c", command{packages: []string{"a", "-b", "--", "c"}}},
	}
	for _, test := range tests {
		got, err := parse("", strings.Fields(test.args))
		if err != nil || !reflect.DeepEqual(*got, test.want) {
			t.Errorf("%q: got %+v, %v, want %+v", test.args, got, err, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"-nonsense":       "not defined: -nonsense",
		"-contract=maybe": `must be "on" or "off"`,
		"-checks":         "needs an argument",
		"-report=yaml":    `must be "text" or "json"`,
		"-check -report":  "-check and -report can't be used together",
		"-S . -check":     "-check and -S can't be used together",
		"-report=json -S": "-S and -report can't be used together",
	} {
		if _, err := parse("", strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
	for _, args := range []string{"-h", "--help", "./a -help"} {
		if _, err := parse("", strings.Fields(args)); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: got %v, want flag.ErrHelp", args, err)
		}
	}
}

// TestHelp checks that the help has each flag, in lines that fit.
func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "50")
	var out strings.Builder
	help(&out, "kernelgen")
	for _, want := range []string{"Usage: kernelgen [flags]", "-check", "-rebuild, -a", "-S", "-report[=json]", "-contract=on|off", "-checks=on|off"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > 51 {
			t.Errorf("a line of %d columns: %q", len(line)-1, line)
		}
	}
}
