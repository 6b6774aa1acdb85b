package slurm

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/probe/guard"
)

// Config is what slurmctld runs with.
type Config struct {
	Cluster string `json:"cluster"`
	Version string `json:"version"`
	// Controllers are the hosts of slurmctld, the primary first.
	Controllers []string `json:"controllers"`
	// Prolog and Epilog are the programs that slurmd runs before and after a job.
	Prolog []string `json:"prolog,omitempty"`
	Epilog []string `json:"epilog,omitempty"`
	// PrologFlags such as Alloc: the prolog runs at allocation, on all nodes.
	PrologFlags []string `json:"prologFlags,omitempty"`
	// AccountingStorage is AccountingStorageType, such as accounting_storage/slurmdbd; empty: none.
	AccountingStorage string `json:"accountingStorage,omitempty"`
	// AccountingTRES are the resources that are accounted for, such as gres/gpu.
	AccountingTRES []string `json:"accountingTRES,omitempty"`
	GresTypes      []string `json:"gresTypes,omitempty"`
}

// ConfigCommand prints the configuration of slurmctld.
func ConfigCommand() []string { return []string{"scontrol", "show", "config"} }

// index is that of an array: Prolog[0] since 24.05, SlurmctldHost[0].
var index = regexp.MustCompile(`\[\d+\]$`)

// ParseConfig reads scontrol show config: lines "Key = value", "(null)" for none. Keys of
// plugins follow after an empty line.
func ParseConfig(raw []byte) (Config, error) {
	return guard.Parse("scontrol show config", func() (Config, error) {
		var c Config
		for line := range strings.Lines(string(raw)) {
			key, value, ok := strings.Cut(line, "=")
			if strings.TrimSpace(line) == "" && c.Cluster != "" {
				break
			}
			if !ok {
				continue
			}
			c.set(index.ReplaceAllString(strings.TrimSpace(key), ""), null(value))
		}
		if c.Cluster == "" || c.Version == "" || len(c.Controllers) == 0 {
			return Config{}, errors.New("ClusterName, SLURM_VERSION and SlurmctldHost must be in it: slurmctld did not answer, or the output is truncated")
		}
		return c, nil
	})
}

// set adds the value of a key.
func (c *Config) set(key, value string) {
	if value == "" {
		return
	}
	switch key {
	case "ClusterName":
		c.Cluster = value
	case "SLURM_VERSION":
		c.Version = value
	case "SlurmctldHost":
		c.Controllers = append(c.Controllers, value)
	case "Prolog":
		c.Prolog = append(c.Prolog, value)
	case "Epilog":
		c.Epilog = append(c.Epilog, value)
	case "PrologFlags":
		c.PrologFlags = split(value)
	case "AccountingStorageType":
		if !strings.HasSuffix(value, "/none") {
			c.AccountingStorage = value
		}
	case "AccountingStorageTRES":
		c.AccountingTRES = split(value)
	case "GresTypes":
		c.GresTypes = split(value)
	}
}

// null is a value without Slurm's words for none.
func null(value string) string {
	value = strings.TrimSpace(value)
	switch value {
	case "(null)", "None", "none", "N/A":
		return ""
	default:
		return value
	}
}

// split is a list separated by commas, without empty parts.
func split(value string) []string {
	return slices.DeleteFunc(strings.Split(value, ","), func(part string) bool { return part == "" })
}
