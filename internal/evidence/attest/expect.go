package attest

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/site"
)

// Expected is what the verifier expects of the run, from a source outside the bundle.
type Expected struct {
	// Site and Profile are the files that the run must be judged against; nil: any.
	Site, Profile []byte
	// Profiles are the profiles of the site's groups, by the name of the input that has each.
	Profiles map[string][]byte
	// Unread is why Profiles cannot be read; empty: they can.
	Unread string
	// Cluster is the UID of the kube-system namespace; empty: any.
	Cluster string
}

func (e Expected) any() bool { return e.Site != nil || e.Profile != nil || e.Cluster != "" }

// expected compares the run with what the verifier expects of it.
func (i *inspection) expectedOf(b *evidence.Bundle) {
	e := i.expected
	if !e.any() {
		i.setOutcome(CheckExpected, None, "no site, profile or cluster given")
		return
	}
	var given []string
	same := func(what, name string, want, have []byte) {
		given = append(given, what)
		if !bytes.Equal(stored(want), stored(have)) {
			i.problem(CheckExpected, name, "differs from the given file")
		}
	}
	if e.Site != nil {
		same("site", "site.yaml", e.Site, b.Site)
	}
	if e.Profile != nil {
		same("profile", "profile.yaml", e.Profile, b.Profile)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Profiles)) {
		group, _ := site.GroupOfProfileFile(name)
		same("profile of group "+group, "inputs/"+name, e.Profiles[name], b.Inputs[name])
	}
	if e.Cluster != "" {
		given = append(given, "cluster")
	}
	if e.Cluster != "" && e.Cluster != b.Header.Cluster {
		i.problem(CheckExpected, "run.json", "the cluster is %q, expected %q", b.Header.Cluster, e.Cluster)
	}
	if b.Header.Only != "" {
		i.problem(CheckExpected, "run.json", "only %s was selected, the whole plan is expected", b.Header.Only)
	}
	if e.Unread != "" {
		i.setOutcome(CheckExpected, NotChecked, "the profiles of the site's groups cannot be read: %s", e.Unread)
	}
	i.setOutcome(CheckExpected, OK, "as given: %s", strings.Join(given, ", "))
}

// stored is a file as a bundle has it: redacted, whether with the structure of YAML or as any text.
func stored(data []byte) []byte {
	out, err := redact.YAML(data)
	if err != nil {
		return redact.Bytes(data)
	}
	return out
}
