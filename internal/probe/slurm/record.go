package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Record is a job in the accounting database.
type Record struct {
	// Job is its ID. IDs begin again where slurmctld lost its state, and the database keeps the old ones.
	Job string `json:"job"`
	// Name is that of the job.
	Name string `json:"name"`
	// State is the first word: COMPLETED, RUNNING, CANCELLED, NODE_FAIL and others.
	State string `json:"state"`
	// Exit is "code:signal".
	Exit  string `json:"exit"`
	Nodes int    `json:"nodes"`
	// GPUs are those of AllocTRES; 0 if it has none.
	GPUs int `json:"gpus"`
}

// RecordCommand prints the record of a job and none of its steps.
func RecordCommand(job string) []string {
	return []string{"sacct", "-X", "-P", "-n", "-j", job, "-o", "JobIDRaw,State,ExitCode,NNodes,AllocTRES,JobName"}
}

const recordFields = 6 // the last is the name, which may have the separator

// ParseRecords reads sacct -P -n with the fields of RecordCommand; none without a record.
func ParseRecords(raw []byte) ([]Record, error) {
	return guard.Parse("sacct", func() ([]Record, error) {
		out := []Record{}
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" {
				continue
			}
			f := strings.SplitN(line, "|", recordFields)
			if len(f) != recordFields {
				return nil, fmt.Errorf("unexpected line %.120q: want %d fields", line, recordFields)
			}
			state, _, _ := strings.Cut(f[1], " ") // "CANCELLED by 0"
			nodes, err := strconv.Atoi(f[3])
			if err != nil || f[0] == "" || state == "" || nodes < 0 {
				return nil, fmt.Errorf("unexpected line %.120q", line)
			}
			r := Record{Job: f[0], Name: f[5], State: state, Exit: f[2], Nodes: nodes}
			if r.GPUs, err = trackedGPUs(f[4]); err != nil {
				return nil, err
			}
			out = append(out, r)
		}
		return out, nil
	})
}

// trackedGPUs are those of "cpu=3,gres/gpu=24,gres/gpu:h100=24,node=3": of all types, or the sum of the types
// where AccountingStorageTRES has these only.
func trackedGPUs(tres string) (int, error) {
	typed := 0
	for _, part := range split(tres) {
		name, value, _ := strings.Cut(part, "=")
		if name != "gres/gpu" && !strings.HasPrefix(name, "gres/gpu:") {
			continue
		}
		n, err := count(value)
		if err != nil || name == "gres/gpu" {
			return n, err
		}
		typed += n
	}
	return typed, nil
}
