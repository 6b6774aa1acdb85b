package slurm

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Controller is a slurmctld and whether it answers.
type Controller struct {
	// Role is primary, backup, or backup1 and so on.
	Role string `json:"role"`
	Host string `json:"host"`
	Up   bool   `json:"up"`
}

// PingCommand asks every slurmctld of the cluster for an answer.
func PingCommand() []string { return []string{"scontrol", "ping"} }

var ping = regexp.MustCompile(`^Slurmctld\((primary|backup\d*)\) at (\S+) is (UP|DOWN)$`)

// ParsePing reads scontrol ping. Its exit code is 1 if no slurmctld answers.
func ParsePing(raw []byte) ([]Controller, error) {
	return guard.Parse("scontrol ping", func() ([]Controller, error) {
		var out []Controller
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSpace(line)
			found := ping.FindStringSubmatch(line)
			switch {
			case found != nil:
				out = append(out, Controller{Role: found[1], Host: found[2], Up: found[3] == "UP"})
			case line == "" || strings.HasPrefix(line, "**"): // the banner for root
			default:
				return nil, fmt.Errorf("unexpected line %.120q", line)
			}
		}
		if len(out) == 0 {
			return nil, errors.New("no slurmctld is listed")
		}
		return out, nil
	})
}
