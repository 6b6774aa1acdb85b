package assertion

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kyverno/chainsaw/pkg/apis"
	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	"github.com/kyverno/chainsaw/pkg/client"
	"github.com/kyverno/chainsaw/pkg/engine/clusters"
	"github.com/kyverno/chainsaw/pkg/engine/namespacer"
	"github.com/kyverno/chainsaw/pkg/engine/operations"
	opassert "github.com/kyverno/chainsaw/pkg/engine/operations/assert"
	operror "github.com/kyverno/chainsaw/pkg/engine/operations/error"
	"github.com/kyverno/chainsaw/pkg/engine/templating"
	chainsaw "github.com/kyverno/chainsaw/pkg/runner/context"
	"github.com/kyverno/kyverno-json/pkg/core/compilers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

// The values that Chainsaw's own Makefile runs its examples with.
var exampleValues = map[string]any{
	"foo": "bar", "env": "poc", "clusterDirectory": "my-cluster", "image": map[string]any{"tag": "01"},
}

// Initial objects of a cluster, before an example: kube-dns and one node.
const (
	kubeDNS = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: coredns, namespace: kube-system, labels: {k8s-app: kube-dns}},
spec: {template: {spec: {securityContext: {}, containers: [{name: coredns, securityContext: {readOnlyRootFilesystem: true}}]}}}}`
	oneNode = `{apiVersion: v1, kind: Node, metadata: {name: node}}`
)

// The operations of Chainsaw's examples that Load must refuse, because they are not assert or
// error.
var exampleRefuses = map[string][]string{
	"array-assertion": {"apply"}, "basic": {"apply", "script"}, "bindings": {"apply"}, "cel": {"apply"}, "deployment": {"apply"},
	"inline": {"apply"}, "jmespath-label-condition": {"apply"}, "k8s-server-version": {"script"}, "list": {"apply"},
	"metrics-decode": {"script"}, "negative-testing/script": {"script"}, "patch": {"apply", "patch"}, "quick-start": {"apply"},
	"scenarios": {"script", "apply", "unsupported cluster ($cluster)"}, "step-template": {"apply"}, "step-template-bindings": {"create"},
	"template": {"apply", "delete"}, "update": {"apply", "update"}, "yaml-anchors": {"apply"},
	"assertion-tree": nil, "non-resource-assertion": nil, "values": nil,
}

func examples(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("testdata/chainsaw", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "chainsaw-test.yaml" {
			out = append(out, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(out) != len(exampleRefuses) {
		t.Fatalf("%d examples, %v", len(out), err)
	}
	return out
}

// Every unsupported operation is refused with its name, file and line.
func TestExamplesThatChangeTheClusterAreRefused(t *testing.T) {
	t.Parallel()
	for _, dir := range examples(t) {
		name, _ := filepath.Rel("testdata/chainsaw", dir)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, "chainsaw-test.yaml")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(file, data, Options{Dir: os.DirFS(dir), Values: exampleValues})
			want, known := exampleRefuses[name]
			if !known || (err == nil) != (len(want) == 0) {
				t.Fatalf("want refused %v, got %v", want, err)
			}
			for _, op := range want {
				found := false
				for line := range strings.Lines(errText(err)) {
					found = found || strings.HasPrefix(line, dir) && strings.Contains(line, ".yaml:") && strings.Contains(line, " "+op)
				}
				if !found {
					t.Errorf("%s is not named with its line:\n%v", op, err)
				}
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Every assert and error of Chainsaw's examples has the outcome here that Chainsaw's
// own engine gives it: as the example goes, and with any value of any object wrong,
// and without the objects.
func TestExamplesHaveChainsawsOutcomes(t *testing.T) {
	t.Parallel()
	for _, dir := range examples(t) {
		name, _ := filepath.Rel("testdata/chainsaw", dir)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newPlayer(t, dir).play() })
		})
	}
}

// player runs an example: applied objects are stored in memory, and both implementations
// evaluate the assertions.
type player struct {
	*testing.T
	dir      string
	shelf    *shelf
	ours     *Test
	compared int
	failures int
}

func newPlayer(t *testing.T, dir string) *player { return &player{T: t, dir: dir} }

func (p *player) play() {
	data, err := os.ReadFile(filepath.Join(p.dir, "chainsaw-test.yaml"))
	if err != nil {
		p.Fatal(err)
	}
	docs, problems := documents("chainsaw-test.yaml", data)
	if len(problems) > 0 {
		p.Fatal(problems)
	}
	asserts := strings.Contains(string(data), "assert:") || strings.Contains(string(data), "use:")
	for i := range docs {
		l := loader{file: "chainsaw-test.yaml", opts: Options{Dir: os.DirFS(p.dir), Values: exampleValues, Namespace: "ephemeral"}}
		var raw v1alpha1.Test
		if wrong := docs[i].decode(&raw); wrong != nil {
			p.Fatal(wrong)
		}
		for s, ours := range l.document(&docs[i], i+1) {
			p.ours, p.shelf = ours, objects(p, kubeDNS, oneNode)
			var scenario []v1alpha1.Binding
			if len(raw.Spec.Scenarios) > 0 {
				scenario = raw.Spec.Scenarios[s].Bindings
			}
			p.test(&raw, scenario)
		}
	}
	if asserts && (p.compared == 0 || p.failures == 0) {
		p.Errorf("%d comparisons, %d of them of what does not hold", p.compared, p.failures)
	}
}

// reference is the state of Chainsaw's runner, by its own code.
func (p *player) test(raw *v1alpha1.Test, scenario []v1alpha1.Binding) {
	from := forgetful{p.source()}
	registry := clusters.NewRegistry(func(clusters.Cluster) (*rest.Config, client.Client, error) { return &rest.Config{}, from, nil })
	tc := chainsaw.MakeContext(clock.RealClock{}, apis.NewBindings(), registry).WithTemplating(true).WithBinding("values", exampleValues)
	tc, err := chainsaw.WithCurrentCluster(tc, "")
	p.must(err)
	tc = tc.WithBinding("config", from) // argument of our x_k8s_server_version
	tc = tc.WithBinding("test", testInfo{Id: p.ours.Number, ScenarioId: p.ours.Scenario, Metadata: raw.ObjectMeta})
	tc, err = chainsaw.WithBindings(tc, scenario...)
	p.must(err)
	tc, err = chainsaw.SetupContext(tc, chainsaw.ContextData{BasePath: &p.dir, Templating: raw.Spec.Template, Timeouts: raw.Spec.Timeouts})
	p.must(err)
	namespace := raw.Spec.Namespace
	if namespace == "" {
		namespace = "ephemeral"
	}
	tc = tc.WithBinding("namespace", namespace).WithNamespacer(namespacer.New(namespace))
	if strings.HasSuffix(p.dir, "k8s-server-version") {
		return // its one expression needs a server, which does not exist here
	}
	tc, err = chainsaw.SetupBindings(tc, raw.Spec.Bindings...)
	p.must(err)
	for i := range raw.Spec.Steps {
		p.step(tc.WithBinding("step", stepInfo{Id: i + 1}), &raw.Spec.Steps[i], i+1)
	}
}

func (p *player) step(tc chainsaw.TestContext, raw *v1alpha1.TestStep, number int) {
	try, bindings := raw.Try, raw.Bindings
	if raw.Use != nil {
		data, err := os.ReadFile(filepath.Join(p.dir, raw.Use.Template))
		p.must(err)
		var tpl v1alpha1.StepTemplate
		p.must(yaml.UnmarshalStrict(data, &tpl))
		try, bindings = tpl.Spec.Try, slices.Concat(bindings, tpl.Spec.Bindings, raw.Use.With.Bindings)
	}
	tc, err := chainsaw.SetupContextAndBindings(tc, chainsaw.ContextData{Templating: raw.Template, Timeouts: raw.Timeouts}, bindings...)
	p.must(err)
	for i := range try {
		op := &try[i]
		tc := tc.WithBinding("operation", operationInfo{Id: i + 1, ResourceId: 1})
		if op.Compiler != nil {
			tc = tc.WithDefaultCompiler(string(*op.Compiler))
		}
		switch {
		case op.Apply != nil:
			p.apply(tc, op.Apply.ActionResourceRef, op.Apply.Bindings, false)
		case op.Create != nil:
			p.apply(tc, op.Create.ActionResourceRef, op.Create.Bindings, false)
		case op.Patch != nil:
			p.apply(tc, op.Patch.ActionResourceRef, op.Patch.Bindings, false)
		case op.Update != nil:
			p.apply(tc, op.Update.ActionResourceRef, op.Update.Bindings, true)
		case op.Assert != nil:
			p.compare(tc, number, i+1, op.Assert.ActionCheckRef, op.Assert.Bindings, opassert.New)
		case op.Error != nil:
			p.compare(tc, number, i+1, op.Error.ActionCheckRef, op.Error.Bindings, operror.New)
		}
	}
}

func (p *player) apply(tc chainsaw.TestContext, ref v1alpha1.ActionResourceRef, bindings []v1alpha1.Binding, replace bool) {
	tc, err := chainsaw.SetupContextAndBindings(tc, chainsaw.ContextData{Templating: ref.Template}, bindings...)
	p.must(err)
	var list []unstructured.Unstructured
	if ref.Resource != nil {
		list = append(list, *ref.Resource)
	} else {
		list = p.read(tc, ref.File)
	}
	for _, o := range list {
		made := *o.DeepCopy()
		if tc.Templating() {
			made, err = templating.TemplateAndMerge(p.Context(), tc.Compilers(), made, tc.Bindings(), v1alpha1.NewProjection(made.UnstructuredContent()))
			p.must(err)
		}
		p.must(tc.Namespacer().Apply(p.source(), &made))
		p.shelf.put(made, replace)
		switch made.GetKind() { // as a cluster would
		case "Pod":
			p.must(unstructured.SetNestedField(made.Object, "Always", "spec", "restartPolicy"))
		case "Deployment":
			labels, _, _ := unstructured.NestedStringMap(made.Object, "spec", "template", "metadata", "labels")
			pod := unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"nodeName": "node"}}}
			pod.SetName(made.GetName() + "-0")
			pod.SetNamespace(made.GetNamespace())
			pod.SetLabels(labels)
			p.shelf.put(pod, true)
		}
	}
}

func (p *player) read(tc chainsaw.TestContext, ref v1alpha1.Expression) []unstructured.Unstructured {
	name, err := ref.Value(p.Context(), tc.Compilers(), tc.Bindings())
	p.must(err)
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	p.must(err)
	var out []unstructured.Unstructured
	for text := range strings.SplitSeq(string(data), "\n---\n") {
		o := object(p, text)
		if !o.IsList() {
			out = append(out, o)
			continue
		}
		list, err := o.ToList()
		p.must(err)
		out = append(out, list.Items...)
	}
	return out
}

type newOperation func(c compilers.Compilers, cl client.Client, expected unstructured.Unstructured, n namespacer.Namespacer, template bool) operations.Operation

func (p *player) compare(tc chainsaw.TestContext, step, number int, ref v1alpha1.ActionCheckRef, bindings []v1alpha1.Binding, engine newOperation) {
	tc, err := chainsaw.SetupContextAndBindings(tc, chainsaw.ContextData{Templating: ref.Template}, bindings...)
	p.must(err)
	var list []unstructured.Unstructured
	if ref.Check != nil {
		list = append(list, unstructured.Unstructured{Object: ref.Check.Value().(map[string]any)})
	} else {
		list = p.read(tc, ref.File)
	}
	var ours []*Operation
	for _, o := range p.ours.Steps[step-1].Operations {
		if o.Number == number {
			ours = append(ours, o)
		}
	}
	if len(ours) != len(list) {
		p.Fatalf("step %d operation %d: %d operations, and Chainsaw has %d", step, number, len(ours), len(list))
	}
	before := p.shelf.objects
	for i := range list {
		expected := list[i]
		check := func(what string) bool {
			p.compared++
			ctx, cancel := context.WithTimeout(p.Context(), time.Second)
			defer cancel()
			_, err := engine(tc.Compilers(), forgetful{p.source()}, *expected.DeepCopy(), tc.Namespacer(), tc.Templating()).Exec(ctx, tc.Bindings())
			own := *ours[i]
			own.Resource = expected
			p.agree(what, &own, err)
			return err == nil
		}
		if !check("as it is") {
			p.Errorf("%s %s does not hold by Chainsaw", ours[i].Kind, ours[i].Subject())
		}
		p.shelf.objects = nil
		check("without objects")
		for n := range before {
			leaves(before[n].Object, nil, func(path []any) {
				p.shelf.objects = slices.Clone(before)
				p.shelf.objects[n] = changed(before[n], path)
				check(before[n].GetName() + " " + pathText(path))
			})
		}
		p.shelf.objects = before
		leaves(list[i].Object, nil, func(path []any) {
			expected = changed(list[i], path)
			check("with another expectation of " + pathText(path))
		})
	}
}

// agree compares our outcome with Chainsaw's, and the evaluation of the stored objects with our
// outcome.
func (p *player) agree(what string, op *Operation, theirs error) {
	if theirs != nil {
		p.failures++
	}
	var out Outcome
	r := Runner{Cluster: p.shelf}.defaults()
	out, err := r.operation(p.Context(), op, [levels]*source{r.source(p.Context()), r.source(p.Context()), r.source(p.Context())}, false)
	p.must(err)
	if out.Result.Holds != (theirs == nil) {
		p.Errorf("%s of %s, %s: ours %+v, Chainsaw's %v", op.Kind, op.Subject(), what, out.Result, theirs)
	}
	for _, o := range out.Result.Objects {
		for _, f := range o.Fields {
			if theirs != nil && op.Kind == Assert && !strings.Contains(theirs.Error(), "* "+f.String()) {
				p.Errorf("%s: Chainsaw does not say %q:\n%s", what, f, theirs)
			}
		}
	}
	data, err := utiljson.Marshal(out.Seen)
	p.must(err)
	var seen Seen
	p.must(utiljson.Unmarshal(data, &seen))
	again := op.Evaluate(seen, Chainsaw)
	if again.Holds != out.Result.Holds || again.Wrong != out.Result.Wrong || len(again.Objects) != len(out.Result.Objects) {
		p.Errorf("%s: seen again it is %+v, was %+v", what, again, out.Result)
	}
}

func (p *player) source() *source { return Runner{Cluster: p.shelf}.defaults().source(p.Context()) }

// forgetful asks the cluster again every time, as Chainsaw's client does.
type forgetful struct{ *source }

func (f forgetful) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	clear(f.known)
	return f.source.Get(ctx, key, obj, opts...)
}

func (f forgetful) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	clear(f.known)
	return f.source.List(ctx, list, opts...)
}

func (p *player) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func pathText(path []any) string {
	var b strings.Builder
	for _, p := range path {
		fmt.Fprintf(&b, "/%v", p)
	}
	return b.String()
}
