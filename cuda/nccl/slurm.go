package nccl

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Launched returns the identity that a launcher has set in the environment variables: the result of Torchrun if RANK
// and WORLD_SIZE are set; otherwise, the result of Slurm if SLURM_STEP_ID and SLURM_PROCID are set. several is true if
// the variables are set and the job has more than one process.
func Launched(getenv func(name string) string) (p Process, several bool, err error) {
	switch {
	case getenv("RANK") != "" && getenv("WORLD_SIZE") != "":
		p, err = Torchrun(getenv)
	case getenv("SLURM_STEP_ID") != "" && getenv("SLURM_PROCID") != "":
		p, err = Slurm(getenv)
	default:
		return p, false, nil
	}
	return p, err == nil && p.World > 1, err
}

// Ports that Slurm chooses from.
const (
	firstPort = 20000
	ports     = 10000
)

// Slurm returns the identity that srun sets in the environment variables SLURM_PROCID, SLURM_STEP_NUM_TASKS (or SLURM_NTASKS) and SLURM_LOCALID. The
// address of rank 0 is MASTER_ADDR or, if it is not set, the first host of SLURM_STEP_NODELIST. The port is MASTER_PORT or, if it is not set, a
// number that depends on SLURM_JOB_ID and SLURM_STEP_ID. As with Torchrun, GOPHERWARP_JOB_SECRET is the job's secret.
func Slurm(getenv func(name string) string) (Process, error) {
	var p Process
	for _, v := range []struct {
		name string
		to   *int
	}{{"SLURM_PROCID", &p.Rank}, {"SLURM_STEP_NUM_TASKS", &p.World}, {"SLURM_LOCALID", &p.LocalRank}} {
		text := getenv(v.name)
		if text == "" && v.to == &p.World {
			text = getenv("SLURM_NTASKS")
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return Process{}, fmt.Errorf("nccl: %s is %q, not a number; start the program with srun, or set the variable", v.name, text)
		}
		*v.to = n
	}
	host, port := getenv("MASTER_ADDR"), getenv("MASTER_PORT")
	if host == "" {
		if host = firstHost(getenv("SLURM_STEP_NODELIST")); host == "" {
			return Process{}, fmt.Errorf("nccl: SLURM_STEP_NODELIST is %q, without a host; set MASTER_ADDR to that of rank 0", getenv("SLURM_STEP_NODELIST"))
		}
	}
	if port == "" {
		job, _ := strconv.Atoi(getenv("SLURM_JOB_ID")) // any port will do for a job without a number
		step, _ := strconv.Atoi(getenv("SLURM_STEP_ID"))
		port = strconv.Itoa(firstPort + 2*((job+step)%(ports/2)))
	}
	p.Secret = getenv("GOPHERWARP_JOB_SECRET")
	p.Address = net.JoinHostPort(host, port)
	return p, nil
}

// firstHost returns the first host of a list of Slurm, such as "node7" of "node[7-9,12],other" and "a1b02" of "a1b[02-03]".
func firstHost(list string) string {
	end := strings.IndexAny(list, "[,")
	if end < 0 || list[end] == ',' {
		host, _, _ := strings.Cut(list, ",")
		return host
	}
	numbers, rest, closed := strings.Cut(list[end+1:], "]")
	first := strings.FieldsFunc(numbers, func(r rune) bool { return r == '-' || r == ',' })
	if !closed || len(first) == 0 {
		return ""
	}
	host := list[:end] + first[0]
	if rest == "" || rest[0] == ',' {
		return host
	}
	return firstHost(host + rest)
}
