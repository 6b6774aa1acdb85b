package impact

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MatrixRow is one job of a matrix.
type MatrixRow struct {
	// ID names the artifacts of the job, for example tier2-1-of-3.
	ID    string `json:"id"`
	Shard string `json:"shard"`
	Tier  int    `json:"tier"`
	// Recipes are the names, separated by spaces.
	Recipes string `json:"recipes"`
}

// Matrix is the value of strategy.matrix of a job.
type Matrix struct {
	Include []MatrixRow `json:"include"`
}

// Matrix returns the matrix of a tier. Tier 3 includes recipes selected by name: the same
// workflow runs them.
func (p *Plan) Matrix(tier int) Matrix {
	m := Matrix{Include: []MatrixRow{}}
	for _, s := range p.Shards {
		if s.Tier == tier || s.Tier == Named && tier == All {
			m.Include = append(m.Include, MatrixRow{ID: s.ID, Shard: s.Name, Tier: s.Tier, Recipes: strings.Join(s.Recipes, " ")})
		}
	}
	return m
}

// maxOutputs is GitHub's limit for the outputs of one job, in bytes:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idoutputs.
const maxOutputs = 1 << 20

// WriteGitHub writes the plan as outputs of a workflow step, in the format of $GITHUB_OUTPUT.
func (p *Plan) WriteGitHub(w io.Writer) error {
	var b strings.Builder
	line := func(key, value string) {
		fmt.Fprintf(&b, "%s=%s\n", key, strings.Join(strings.Fields(value), " "))
	}
	line("has-work", strconv.FormatBool(p.HasWork))
	line("reason", p.Reason)
	line("recipes", strconv.Itoa(len(p.Tests())))
	line("digest", p.Digest)
	for _, tier := range []int{Generic, Affected, All} {
		m := p.Matrix(tier)
		data, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode matrix of tier %d: %w", tier, err)
		}
		key := "tier" + strconv.Itoa(tier)
		line("has-"+key, strconv.FormatBool(len(m.Include) > 0))
		line(key, string(data))
	}
	// GitHub counts UTF-16 code units.
	if 2*b.Len() > maxOutputs {
		return fmt.Errorf("plan needs %d KiB of job outputs, GitHub allows %d: test fewer recipes at a time", 2*b.Len()>>10, maxOutputs>>10)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}
