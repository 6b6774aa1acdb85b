package resolve_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// snapshot has a Kubernetes version, and the operating system of the leaf.
func snapshot(t *testing.T, version, os string) *constraint.Snapshot {
	t.Helper()
	s, err := constraint.ParseSnapshot("snapshot.yaml", []byte(`
kind: Snapshot
apiVersion: aicr.run/v1
measurements:
  - {type: K8s, subtypes: [{subtype: server, data: {version: `+version+`}}]}
  - {type: OS, subtypes: [{subtype: release, data: {`+os+`}}, {subtype: sysctl, data: {/proc/sys/kernel/osrelease: 6.8.0-1024-aws}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const ubuntu = "ID: ubuntu, VERSION_ID: 24.04"

func TestSnapshotThatHolds(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	with := must(t, loaded, leaf, resolve.Options{Snapshot: snapshot(t, "v1.33.5", ubuntu)})
	without := must(t, loaded, leaf, resolve.Options{})
	if diff := cmp.Diff(without.Recipe, with.Recipe); diff != "" {
		t.Error(diff)
	}
}

// The constraints of eks fail on Kubernetes 1.31: the overlays based on it are excluded as
// well, and no overlay covers the query.
func TestAnExcludedParentExcludesItsChildren(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{})
	_, err := resolve.Resolve(loaded, query(t, "service=eks,intent=training"), resolve.Options{Snapshot: snapshot(t, "v1.31.0", ubuntu)})
	c, ok := errors.AsType[*resolve.CoverageError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"eks (constraint K8s.server.version is failed)", "eks-training (its base eks is excluded)"} {
		if !strings.Contains(c.Error(), want) {
			t.Errorf("lacks %q:\n%v", want, c)
		}
	}
}

func TestWhatIsExcluded(t *testing.T) {
	t.Parallel()
	const relaxed = "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: relaxed}\nspec: {criteria: {service: eks, intent: training, platform: slurm}}\n"
	const warns = "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: warns}\nspec: {criteria: {service: eks}, constraints: [{name: OS.release.ID, value: cos, severity: warning}]}\n"
	files := map[string]string{"overlays/relaxed.yaml": relaxed, "overlays/warns.yaml": warns}
	tests := []struct {
		name, query, version, os string
		excluded                 []string
		warned                   []string
	}{
		{"nothing", "service=eks", "v1.33.1", "ID: cos", nil, nil},
		{"a warning excludes nothing", "service=eks", "v1.33.1", "ID: ubuntu", nil, []string{"warns OS.release.ID failed: ubuntu is not cos"}},
		{
			"a mixin's constraint excludes its overlay", leaf + ",nodes=0", "v1.33.1", "ID: rhel, VERSION_ID: 24.04", []string{"h100-eks-ubuntu-training-kubeflow: constraint OS.release.ID is failed"},
			[]string{"warns OS.release.ID failed: rhel is not cos", "h100-eks-ubuntu-training-kubeflow OS.release.ID failed: rhel is not ubuntu"},
		},
		{
			"an unmeasured constraint excludes the overlay", leaf, "v1.33.1", "ID: ubuntu", []string{"h100-eks-ubuntu-training-kubeflow: constraint OS.release.VERSION_ID is unobserved"},
			[]string{"warns OS.release.ID failed: ubuntu is not cos", "h100-eks-ubuntu-training-kubeflow OS.release.VERSION_ID unobserved: the snapshot has no OS.release.VERSION_ID (1 other keys of OS.release)"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// another overlay must cover the criteria of the excluded leaf, or the query is not covered
			more := map[string]string{"overlays/carrier.yaml": "kind: RecipeMetadata\napiVersion: aicr.run/v1\nmetadata: {name: carrier}\nspec: {criteria: {os: ubuntu, platform: kubeflow}}\n"}
			loaded := load(t, recipetest.Edit(recipetest.Edit(recipetest.Small(), files), more), tree.Options{})
			r := must(t, loaded, tt.query, resolve.Options{Snapshot: snapshot(t, tt.version, tt.os)})
			var excluded, warned []string
			for _, e := range r.Metadata.ExcludedOverlays {
				excluded = append(excluded, e.Name+": "+e.Reason)
			}
			for _, w := range r.Metadata.ConstraintWarnings {
				warned = append(warned, w.Overlay+" "+w.Constraint+" "+w.Reason)
			}
			if diff := cmp.Diff(tt.excluded, excluded); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.warned, warned); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// In compat mode an excluded parent is still merged through a child that holds.
func TestCompatMergesAnExcludedParent(t *testing.T) {
	t.Parallel()
	loaded := load(t, recipetest.Small(), tree.Options{Legacy: true})
	r := must(t, loaded, "service=eks,intent=training", resolve.Options{Compat: true, Snapshot: snapshot(t, "v1.31.0", ubuntu)})
	if diff := cmp.Diff([]model.ExcludedOverlay{{Name: "eks", Reason: "constraint K8s.server.version is failed"}}, r.Metadata.ExcludedOverlays); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(r.Metadata.AppliedOverlays, " "); got != "base monitoring-hpa eks eks-training" {
		t.Errorf("applied are %s", got)
	}
}
