package evidence

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/plan"
)

// FormatVersion is the schema version of a run's files. Since version 2 the duration of an
// observation is a Go duration string; before, it was a number of nanoseconds.
const FormatVersion = 2

// readHeader reads run.json of the run in dir. It checks the schema version before it decodes
// the other fields, so that a run of another version is refused for that reason.
func readHeader(dir string) (Header, error) {
	data, err := ReadFile(filepath.Join(dir, headerFile))
	if err != nil {
		return Header{}, fmt.Errorf("read %s: %w", headerFile, err)
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &version); err == nil && version.Format != FormatVersion {
		return Header{}, fmt.Errorf("unsupported schema version %d in %s: want %d", version.Format, headerFile, FormatVersion)
	}
	var h Header
	if err := strictjson.Unmarshal(data, &h); err != nil {
		return Header{}, fmt.Errorf("decode %s: %w", headerFile, err)
	}
	return h, nil
}

// Header is run.json. It contains no host names.
type Header struct {
	Format int `json:"format"`
	// Run is the run ID, which is the directory name.
	Run     string    `json:"run"`
	Created time.Time `json:"created"`
	// Tool is the version of firstlight that wrote the reports, Command its arguments.
	Tool string `json:"tool"`
	// EarlierTools are the other versions that worked on the run before it was resumed.
	EarlierTools []string `json:"earlierTools,omitempty"`
	Command      []string `json:"command"`
	Site         string   `json:"site"`
	Profile      string   `json:"profile"`
	// Cluster identifies the cluster (the UID of its kube-system namespace) once known; without a
	// cluster the machine (MachinePrefix and a hash of its machine ID).
	Cluster string `json:"cluster,omitempty"`
	// Simulated says whether the hardware is simulated, with the reason in SimulatedWhy.
	Simulated    Hardware `json:"simulated"`
	SimulatedWhy string   `json:"simulatedWhy,omitempty"`
	// From and Only are the selection of the run.
	From string `json:"from,omitempty"`
	Only string `json:"only,omitempty"`
	// AllowFailed is the most failed nodes that the run leaves out.
	AllowFailed int `json:"allowFailed,omitempty"`
	// AddedTo is the accepted run that the run adds nodes to.
	AddedTo string `json:"addedTo,omitempty"`
	// Soak is the ID of the soak that the run is a repetition of.
	Soak string `json:"soak,omitempty"`
	// Include are the checks that the run includes in addition to its gates.
	Include []string `json:"include,omitempty"`
	// Namespace was created for the run by an administrator; empty: the run created its own.
	Namespace string `json:"namespace,omitempty"`
	// Hosts are the fingerprints of the SSH host keys by host name.
	Hosts map[string]string `json:"hosts,omitempty"`
	// Recipe is the name of the recipe, if any; recipe.yaml is its content as used.
	Recipe string `json:"recipe,omitempty"`
	// Seed is the random seed, if randomness was used.
	Seed *uint64 `json:"seed,omitempty"`
	// Versions are the versions of the programs.
	Versions map[string]string `json:"versions,omitempty"`
	// Digests are the SHA-256 of the programs of a lab, in hex.
	Digests map[string]string `json:"digests,omitempty"`
}

// MachinePrefix begins the Header.Cluster of a run without a cluster.
const MachinePrefix = "machine-"

// SlurmPrefix begins the Header.Cluster of a Slurm cluster, SlurmPrefix NAME@HOST.
const SlurmPrefix = "slurm-"

// IsSlurm reports whether a Header.Cluster is a Slurm cluster.
func IsSlurm(cluster string) bool { return strings.HasPrefix(cluster, SlurmPrefix) }

// IsMachine reports whether a Header.Cluster is a machine.
func IsMachine(cluster string) bool { return strings.HasPrefix(cluster, MachinePrefix) }

// PlanFile is plan.json: the steps of the Plan.
type PlanFile struct {
	Name  string     `json:"name"`
	Steps []PlanStep `json:"steps"`
	// AllowFailed is the most failed nodes that the plan leaves out.
	AllowFailed int `json:"allowFailed,omitempty"`
}

// PlanStep is one step, in the order of execution.
type PlanStep struct {
	Name          string   `json:"name"`
	Needs         []string `json:"needs,omitempty"`
	After         []string `json:"after,omitempty"`
	GPUs          int      `json:"gpus,omitempty"`
	Recommended   bool     `json:"recommended,omitempty"`
	NotApplicable string   `json:"notApplicable,omitempty"`
	Prepare       []string `json:"prepare,omitempty"`
	Describe      []string `json:"describe,omitempty"`
}

func (p PlanFile) needs() plan.Needs {
	out := plan.Needs{}
	for _, s := range p.Steps {
		out[s.Name] = s.Needs
	}
	return out
}

// DescribePlan is the content of plan.json for p.
func DescribePlan(p plan.Plan) (PlanFile, error) {
	order, err := p.Order()
	if err != nil {
		return PlanFile{}, fmt.Errorf("describe the plan: %w", err)
	}
	out := PlanFile{Name: p.Name, AllowFailed: p.AllowFailed}
	for _, s := range order {
		step := PlanStep{Name: s.Name(), Needs: s.Needs, After: s.After, GPUs: s.GPUs, Recommended: s.Recommended, NotApplicable: s.NotApplicable, Describe: s.Describe}
		for _, prep := range s.Prepare {
			step.Prepare = append(step.Prepare, prep.Name())
		}
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}

// newID returns a run ID: the time in UTC and a random suffix.
func newID(now time.Time, random io.Reader) (string, error) {
	var suffix [2]byte
	if _, err := io.ReadFull(random, suffix[:]); err != nil {
		return "", fmt.Errorf("create a run ID: %w", err)
	}
	return now.UTC().Format(runTime) + "-" + hex.EncodeToString(suffix[:]), nil
}
