package slurm

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Job is a job that is pending, running or completing.
type Job struct{ ID, Name string }

// QueueCommand prints the jobs of the user, of all partitions.
func QueueCommand() []string { return []string{"squeue", "--me", "-h", "-a", "-o", "%i|%j"} }

// ParseQueue reads squeue with the fields of QueueCommand; none without a job.
func ParseQueue(raw []byte) ([]Job, error) {
	return guard.Parse("squeue", func() ([]Job, error) {
		var out []Job
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" {
				continue
			}
			id, name, ok := strings.Cut(line, "|")
			if !ok || id == "" {
				return nil, fmt.Errorf("unexpected line %.120q", line)
			}
			out = append(out, Job{ID: id, Name: name})
		}
		return out, nil
	})
}
