package nccl

import (
	"fmt"
	"net"
	"strconv"
)

// Process is the identity of a process that torchrun, Slurm or another launcher has started.
type Process struct {
	Options
	LocalRank int // the number of the process on its machine, which is the index of its GPU
}

// Torchrun returns the identity that torchrun and similar launchers set in the environment
// variables RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT. In programs, getenv is
// os.Getenv. If torchrun itself listens on MASTER_PORT, the processes meet on the next higher port.
// GOPHERWARP_JOB_SECRET is the job's secret: set it to the same text on all machines. Torchrun
// returns an error if a variable is missing or not a number.
func Torchrun(getenv func(name string) string) (Process, error) {
	var p Process
	port := 0
	for name, v := range map[string]*int{"RANK": &p.Rank, "WORLD_SIZE": &p.World, "LOCAL_RANK": &p.LocalRank, "MASTER_PORT": &port} {
		n, err := strconv.Atoi(getenv(name))
		if err != nil || n < 0 {
			return Process{}, fmt.Errorf("nccl: %s is %q, not a number; start the program with torchrun --no-python, or set the variable", name, getenv(name))
		}
		*v = n
	}
	host := getenv("MASTER_ADDR")
	if host == "" {
		return Process{}, fmt.Errorf("nccl: MASTER_ADDR is not set; start the program with torchrun --no-python, or set the variable")
	}
	if getenv("TORCHELASTIC_USE_AGENT_STORE") == "True" {
		port++
	}
	p.Secret = getenv("GOPHERWARP_JOB_SECRET")
	p.Address = net.JoinHostPort(host, strconv.Itoa(port))
	return p, nil
}
