package evidence

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	data, err := os.ReadFile(filepath.Join(dir, headerFile))
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

// Header is run.json: what the run is of. It names no machine.
type Header struct {
	Format int `json:"format"`
	// Run is the run's ID, and its directory's name.
	Run     string    `json:"run"`
	Created time.Time `json:"created"`
	// Tool is firstlight's version, Command what it was told.
	Tool    string   `json:"tool"`
	Command []string `json:"command"`
	Site    string   `json:"site"`
	Profile string   `json:"profile"`
	// Cluster identifies the cluster (the UID of its kube-system namespace) once known.
	Cluster string `json:"cluster,omitempty"`
	// Simulated says that the hardware is, SimulatedWhy from what that is seen.
	Simulated    bool   `json:"simulated"`
	SimulatedWhy string `json:"simulatedWhy,omitempty"`
	// From and Only are the selection of the walk.
	From string `json:"from,omitempty"`
	Only string `json:"only,omitempty"`
	// Include are the checks that the walk includes beside its gates.
	Include []string `json:"include,omitempty"`
	// Namespace is the one that an administrator made for the run; empty: it made its own.
	Namespace string `json:"namespace,omitempty"`
	// Hosts are the machines behind the site's hosts: by name, fingerprints of their SSH
	// host keys.
	Hosts map[string]string `json:"hosts,omitempty"`
	// Recipe names the recipe that was walked for, where there is one; recipe.yaml
	// is it as used.
	Recipe string `json:"recipe,omitempty"`
	// Seed is that of chance, where chance had a part.
	Seed *uint64 `json:"seed,omitempty"`
	// Versions are those of the programs involved.
	Versions map[string]string `json:"versions,omitempty"`
	// Digests are the SHA-256 of the programs that a lab is made of, in hex.
	Digests map[string]string `json:"digests,omitempty"`
}

// PlanFile is plan.json: the Plan as walked, without code.
type PlanFile struct {
	Name  string     `json:"name"`
	Steps []PlanStep `json:"steps"`
}

// PlanStep is one step, in the order walked.
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

// DescribePlan is what plan.json holds of p.
func DescribePlan(p plan.Plan) (PlanFile, error) {
	order, err := p.Order()
	if err != nil {
		return PlanFile{}, fmt.Errorf("describe the plan: %w", err)
	}
	out := PlanFile{Name: p.Name}
	for _, s := range order {
		step := PlanStep{Name: s.Name(), Needs: s.Needs, After: s.After, GPUs: s.GPUs, Recommended: s.Recommended, NotApplicable: s.NotApplicable, Describe: s.Describe}
		for _, prep := range s.Prepare {
			step.Prepare = append(step.Prepare, prep.Name())
		}
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}

// newID is a run's ID: its time, in UTC, and what tells it from another of the
// same second.
func newID(now time.Time, random io.Reader) (string, error) {
	var suffix [2]byte
	if _, err := io.ReadFull(random, suffix[:]); err != nil {
		return "", fmt.Errorf("make a run ID: %w", err)
	}
	return now.UTC().Format(runTime) + "-" + hex.EncodeToString(suffix[:]), nil
}
