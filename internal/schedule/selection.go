package schedule

// Choice determines the recipes of a test: classes and shards are derived from it. It is
// stored with the test as the input of its plan.
type Choice struct {
	// Tier that selected the candidates; 0 where they were named.
	Tier int `json:"tier"`
	// OnePerClass tests one candidate of each class instead of every candidate.
	OnePerClass bool `json:"onePerClass"`
	// Shard of Shards is tested; from 0.
	Shard  int `json:"shard"`
	Shards int `json:"shards"`
	// Candidates in order.
	Candidates []Member `json:"candidates"`
}

// Tests returns the recipes to test, in order, and the candidates that each stands for.
func (c Choice) Tests() (names []string, standsFor map[string][]string) {
	groups := [][]string{}
	if c.OnePerClass {
		groups = Groups(c.Candidates)
	} else {
		for _, m := range c.Candidates {
			groups = append(groups, []string{m.Recipe})
		}
	}
	standsFor = map[string][]string{}
	for k, group := range groups {
		if k%max(c.Shards, 1) != c.Shard {
			continue
		}
		names = append(names, group[0])
		if len(group) > 1 {
			standsFor[group[0]] = group[1:]
		}
	}
	return names, standsFor
}

// Selection is the recipes to test and the recipes that their results stand for.
type Selection struct {
	Choice
	// Cases to test, in order.
	Cases []Case
	// StandsFor maps a tested recipe to the untested recipes of its class.
	StandsFor map[string][]string

	candidates []Case
}

// Each selects every case; tier 3 also audits the classes.
func Each(tier int, cases []Case) Selection { return selectOf(Choice{Tier: tier, Shards: 1}, cases) }

// OnePerClass selects the case with the shortest name of each class, and every case that
// has no scenario.
func OnePerClass(tier int, cases []Case) Selection {
	return selectOf(Choice{Tier: tier, OnePerClass: true, Shards: 1}, cases)
}

// Part selects part i of n; every case is in exactly one part.
func (s Selection) Part(i, n int) Selection {
	c := s.Choice
	c.Shard, c.Shards = i, n
	return selectOf(c, s.candidates)
}

func selectOf(c Choice, cases []Case) Selection {
	s := Selection{Choice: c, candidates: cases}
	byName := map[string]Case{}
	s.Candidates = []Member{}
	for _, one := range cases {
		s.Candidates = append(s.Candidates, one.member())
		byName[one.Recipe] = one
	}
	names, standsFor := s.Tests()
	s.StandsFor = standsFor
	for _, name := range names {
		s.Cases = append(s.Cases, byName[name])
	}
	return s
}

// Audit reports whether every member of a class is tested and all must agree.
func (s Selection) Audit() bool { return s.Tier == 3 }

// Names of the selected recipes, in order.
func (s Selection) Names() []string {
	var out []string
	for _, c := range s.Cases {
		out = append(out, c.Recipe)
	}
	return out
}

// Report builds the report of a test of the selection.
func (s Selection) Report(tree string, o Outcome) Report {
	r := Report{Tree: tree, Tier: s.Tier, Run: o.Run, Notes: o.Notes, StartSeconds: o.Starting.Seconds(), Recipes: []Result{}}
	if o.Evidence != "" {
		r.Evidence = []string{o.Evidence}
	}
	fingerprints := map[string]string{}
	for _, c := range s.Cases {
		fingerprints[c.Recipe] = c.Fingerprint
	}
	for _, res := range o.Results {
		row := ResultOf(res)
		row.Fingerprint, row.StandsFor = fingerprints[res.Step], s.StandsFor[res.Step]
		r.Recipes = append(r.Recipes, row)
		r.Seconds = max(r.Seconds, res.At.Sub(o.Began).Seconds())
	}
	r.Conclude(s.Names())
	if s.Audit() {
		r.Audit()
	}
	return r
}
