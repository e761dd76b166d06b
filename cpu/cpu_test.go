package cpu_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
)

func TestBackend(t *testing.T) { devicetest.TestBackend(t, cpu.Open) }

func TestInfo(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	info := dev.Info()
	if info.Kind != "cpu" || info.Name == "" || info.Cores < 1 {
		t.Errorf("Info() = %+v", info)
	}
	t.Log(info)
}
