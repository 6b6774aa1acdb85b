package slurm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Partition is a partition of the cluster.
type Partition struct {
	Name string `json:"name"`
	// State is UP, DOWN (jobs are queued), DRAIN (jobs are refused) or INACTIVE (neither).
	State   string `json:"state"`
	Default bool   `json:"default"`
}

// PartitionsCommand prints every partition, also hidden ones, one in a line.
func PartitionsCommand() []string { return []string{"scontrol", "show", "partition", "-a", "-o"} }

// ParsePartitions reads scontrol show partition -o.
func ParsePartitions(raw []byte) ([]Partition, error) {
	return guard.Parse("scontrol show partition", func() ([]Partition, error) {
		var out []Partition
		for line := range strings.Lines(string(oneLine(raw))) {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			f := fields(line)
			p := Partition{Name: f["PartitionName"], State: strings.ToUpper(f["State"]), Default: f["Default"] == "YES"}
			if p.Name == "" || !stateWord.MatchString(p.State) {
				return nil, fmt.Errorf("unexpected line %.120q", line)
			}
			out = append(out, p)
		}
		if len(out) == 0 {
			return nil, errors.New("no partitions are listed")
		}
		return out, nil
	})
}
