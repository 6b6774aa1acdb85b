package impact

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MatrixRow is a job of a matrix.
type MatrixRow struct {
	// ID names the job's results: tier2-1-of-3.
	ID    string `json:"id"`
	Shard string `json:"shard"`
	Tier  int    `json:"tier"`
	// Recipes are names with spaces between them.
	Recipes string `json:"recipes"`
}

// Matrix is what strategy.matrix of a job takes.
type Matrix struct {
	Include []MatrixRow `json:"include"`
}

// Matrix is that of a tier. What was named is in that of tier 3: the same workflow
// runs it.
func (p *Plan) Matrix(tier int) Matrix {
	m := Matrix{Include: []MatrixRow{}}
	for _, s := range p.Shards {
		if s.Tier == tier || s.Tier == Named && tier == All {
			m.Include = append(m.Include, MatrixRow{ID: s.ID, Shard: s.Name, Tier: s.Tier, Recipes: strings.Join(s.Recipes, " ")})
		}
	}
	return m
}

// maxOutputs is the most that GitHub takes of one job's outputs, in bytes:
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idoutputs.
const maxOutputs = 1 << 20

// WriteGitHub writes the plan as outputs of a workflow's step, for $GITHUB_OUTPUT:
// every key once, in one piece.
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
			return fmt.Errorf("write the matrix of tier %d: %w", tier, err)
		}
		key := "tier" + strconv.Itoa(tier)
		line("has-"+key, strconv.FormatBool(len(m.Include) > 0))
		line(key, string(data))
	}
	// GitHub counts in UTF-16.
	if 2*b.Len() > maxOutputs {
		return fmt.Errorf("the plan takes %d KiB as outputs of a job, and GitHub takes %d: test less at a time", 2*b.Len()>>10, maxOutputs>>10)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}
