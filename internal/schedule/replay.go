package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/strictjson"
)

// InputFile is the Choice of a test in its evidence.
const InputFile = "selection.json"

// Derive derives the checks and the plan of a stored test from its selection, and compares the
// selection with the command.
func Derive(b *evidence.Bundle) (evidence.Derived, error) {
	var c Choice
	var d evidence.Derived
	problem := func(format string, args ...any) {
		d.Problems = append(d.Problems, evidence.PlanProblem{Message: InputFile + ": " + fmt.Sprintf(format, args...)})
	}
	if data, ok := b.Inputs[InputFile]; !ok {
		problem("missing: the plan cannot be derived")
	} else if err := strictjson.Unmarshal(data, &c); err != nil {
		return d, fmt.Errorf("decode %s: %w", InputFile, err)
	} else if err := c.check(); err != nil {
		problem("%s", err)
	}
	fingerprints := map[string]string{}
	for _, m := range c.Candidates {
		fingerprints[m.Recipe] = m.Fingerprint
	}
	for _, s := range b.Plan.Steps {
		d.Checks = append(d.Checks, Judges(Member{s.Name, fingerprints[s.Name]}))
	}
	d.Plan.Name = PlanName
	names, _ := c.Tests()
	for _, name := range names {
		d.Plan.Steps = append(d.Plan.Steps, evidence.PlanStep{Name: name})
	}
	if len(names) == 0 {
		problem("selects no recipe")
	}
	for _, difference := range c.compare(b.Header.Command) {
		problem("%s", difference)
	}
	return d, nil
}

func (c Choice) check() error {
	if c.Shards < 1 || c.Shard < 0 || c.Shard >= c.Shards {
		return fmt.Errorf("invalid shard %d of %d", c.Shard, c.Shards)
	}
	seen := map[string]bool{}
	for _, m := range c.Candidates {
		if m.Recipe == "" || seen[m.Recipe] {
			return fmt.Errorf("empty or duplicate recipe %q", m.Recipe)
		}
		seen[m.Recipe] = true
	}
	return nil
}

// compare lists the differences between the choice and a command line, firstlight recipe test.
func (c Choice) compare(command []string) []string {
	want := Choice{Shards: 1}
	var named []string
	planned := false
	for i := 3; i < len(command); i++ {
		flag, value := command[i], ""
		if !strings.HasPrefix(flag, "--") {
			named = append(named, flag)
			continue
		}
		if flag == "--all" {
			want.Tier = 3
			continue
		}
		if i++; i < len(command) {
			value = command[i]
		}
		n, _ := strconv.Atoi(value) // 0, which no choice has, if it is not a number
		switch flag {
		case "--tier":
			want.Tier = n
		case "--shards":
			want.Shards = n
		case "--shard-index":
			want.Shard = n
		case "--part":
			planned = true
		}
	}
	want.OnePerClass = want.Tier == 1 || want.Tier == 2
	var out []string
	differ := func(what string, have, want any) {
		out = append(out, fmt.Sprintf("%s is %v, the command says %v", what, have, want))
	}
	if !planned && c.Tier != want.Tier { // the tier of a part is in the plan
		differ("tier", c.Tier, want.Tier)
	}
	if c.OnePerClass != want.OnePerClass {
		differ("onePerClass", c.OnePerClass, want.OnePerClass)
	}
	if c.Shard != want.Shard || c.Shards != want.Shards {
		differ("shard", fmt.Sprintf("%d of %d", c.Shard, c.Shards), fmt.Sprintf("%d of %d", want.Shard, want.Shards))
	}
	if candidates := recipesOf(c.Candidates); len(named) > 0 && !slices.Equal(candidates, named) {
		differ("recipes", candidates, named)
	}
	return out
}

func recipesOf(members []Member) []string {
	var out []string
	for _, m := range members {
		out = append(out, m.Recipe)
	}
	return out
}
