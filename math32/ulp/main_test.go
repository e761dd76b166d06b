package main

import (
	"os"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

func TestMain(m *testing.M) { os.Exit(ondemand.Main(m)) }
