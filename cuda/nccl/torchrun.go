package nccl

import (
	"fmt"
	"net"
	"strconv"
)

// Place is where torchrun has put a process.
type Place struct {
	Options
	LocalRank int // among the processes of its machine: the index of its GPU
}

// Torchrun returns the place that the variables of the environment say, which torchrun and the
// like set: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT. getenv is os.Getenv. Where torchrun itself listens at
// MASTER_PORT, processes meet one port higher.
func Torchrun(getenv func(name string) string) (Place, error) {
	var p Place
	port := 0
	for name, v := range map[string]*int{"RANK": &p.Rank, "WORLD_SIZE": &p.World, "LOCAL_RANK": &p.LocalRank, "MASTER_PORT": &port} {
		n, err := strconv.Atoi(getenv(name))
		if err != nil || n < 0 {
			return Place{}, fmt.Errorf("nccl: %s is %q, not a number; start the program with torchrun --no-python, or set it", name, getenv(name))
		}
		*v = n
	}
	host := getenv("MASTER_ADDR")
	if host == "" {
		return Place{}, fmt.Errorf("nccl: MASTER_ADDR is not set; start the program with torchrun --no-python, or set it")
	}
	if getenv("TORCHELASTIC_USE_AGENT_STORE") == "True" {
		port++
	}
	p.Address = net.JoinHostPort(host, strconv.Itoa(port))
	return p, nil
}
