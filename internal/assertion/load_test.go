package assertion

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
)

const begin = "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\n"

// one makes a file of one step.
func one(operation string) string {
	return begin + "spec:\n  steps:\n  - try:\n    - " + strings.ReplaceAll(strings.TrimSpace(operation), "\n", "\n      ") + "\n"
}

var dir = fstest.MapFS{
	"pod.yaml":     {Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ns}\n---\n# none\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: ns}\n")},
	"list.yaml":    {Data: []byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}}\n")},
	"bare.yaml":    {Data: []byte("(length('abc')): 3\n")},
	"empty.yaml":   {Data: []byte("# nothing\n")},
	"broken.yaml":  {Data: []byte("a: [1\n")},
	"half.yaml":    {Data: []byte("kind: Pod\nmetadata: {name: a}\n")},
	"step.yaml":    {Data: []byte("apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: StepTemplate\nmetadata: {name: s}\nspec:\n  try:\n  - assert: {file: ($file)}\n")},
	"script.yaml":  {Data: []byte("apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: StepTemplate\nmetadata: {name: s}\nspec:\n  try:\n  - script: {content: rm}\n")},
	"nothing.yaml": {Data: []byte("apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: StepTemplate\nmetadata: {name: s}\nspec:\n  try: []\n")},
}

const pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}}"

// Everything that is wrong comes back with its place and what to do.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file string
		// want are rule, line and words of each problem.
		want []string
	}{
		"an empty file":                 {"", []string{"no-operation: no test"}},
		"only comments":                 {"# a\n---\n# b\n", []string{"no-operation: no test"}},
		"no YAML":                       {"a: [", []string{"syntax:"}},
		"a list":                        {"- a\n", []string{"not-a-test:1"}},
		"another kind":                  {"apiVersion: v1\nkind: ConfigMap\n", []string{"not-a-test:2 kind: ConfigMap"}},
		"another version":               {"apiVersion: chainsaw.kyverno.io/v1alpha2\nkind: Test\n", []string{"not-a-test:2"}},
		"a second document":             {one("assert: {resource: "+pod+"}") + "---\napiVersion: v1\nkind: Pod\n", []string{"not-a-test:10"}},
		"an unknown key":                {begin + "spec:\n  steps:\n  - try:\n    - asert: {resource: " + pod + "}\n", []string{"unknown-key:7 asert"}},
		"two unknown keys":              {begin + "spec:\n  stepz: []\n  steps:\n  - tri: []\n", []string{"unknown-key:5", "unknown-key:7"}},
		"a key twice":                   {begin + "spec:\n  namespace: a\n  namespace: b\n  steps: [{try: [{assert: {resource: " + pod + "}}]}]\n", []string{"duplicate-key:6"}},
		"a wrong type":                  {begin + "spec:\n  steps: no\n", []string{"assertion-value:5"}},
		"an invalid timeout":            {begin + "spec:\n  timeouts: {assert: soon}\n  steps: [{try: [{assert: {resource: " + pod + "}}]}]\n", []string{"assertion-value:"}},
		"no steps":                      {begin + "spec: {steps: []}\n", []string{"no-operation:4 the test has no step"}},
		"an empty step":                 {begin + "spec:\n  steps:\n  - name: x\n    try: []\n", []string{"no-operation:6 step x has no operation"}},
		"an empty operation":            {begin + "spec:\n  steps:\n  - try:\n    - description: x\n", []string{"no-operation:7"}},
		"two operations in one":         {one("assert: {resource: " + pod + "}\nerror: {resource: " + pod + "}"), []string{"assertion-value:7 assert and error"}},
		"a name that is a number":       {one("assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: 1, namespace: n}}}"), []string{"assertion-value:7 metadata.name"}},
		"neither file nor resource":     {one("assert: {timeout: 1s}"), []string{"no-operation:7"}},
		"both file and resource":        {one("assert: {file: pod.yaml, resource: " + pod + "}"), []string{"assertion-value:7"}},
		"an empty resource":             {one("assert: {resource: {}}"), []string{"no-operation:7"}},
		"a resource that is a list":     {one("assert: {resource: [1]}"), []string{"assertion-value:7"}},
		"a kind without a version":      {one("error: {resource: {kind: Pod}}"), []string{"assertion-value:7 only one of apiVersion and kind"}},
		"no JMESPath":                   {one("assert: {resource: {(length(): 1}}"), []string{"assertion-value:7 cannot compile"}},
		"no time to look":               {one("assert: {timeout: 0s, resource: " + pod + "}"), []string{"assertion-value:7 0s"}},
		"apply":                         {one("apply: {resource: " + pod + "}"), []string{"refused-operation:7 apply in step step-1"}},
		"script and wait and sleep":     {one("script: {content: rm}") + "    - wait: {apiVersion: v1, kind: Pod, for: {deletion: {}}}\n    - sleep: {duration: 1s}\n", []string{"refused-operation:7 script", "refused-operation:8 wait", "refused-operation:9 sleep"}},
		"catch, finally and cleanup":    {one("assert: {resource: "+pod+"}") + "    catch: [{events: {}}]\n    finally: [{podLogs: {}}]\n    cleanup: [{script: {content: rm}}]\n", []string{"refused-operation:8 events in catch", "refused-operation:9 podLogs in finally", "refused-operation:10 script in cleanup"}},
		"a catch of the test":           {begin + "spec:\n  catch: [{events: {}}]\n  steps: [{try: [{assert: {resource: " + pod + "}}]}]\n", []string{"refused-operation:5 events"}},
		"skip":                          {begin + "spec:\n  skip: true\n  steps: [{try: [{assert: {resource: " + pod + "}}]}]\n", []string{"not-carried-out:5 unsupported skip"}},
		"another cluster":               {begin + "spec:\n  cluster: x\n  clusters: {x: {kubeconfig: z}}\n  steps: [{cluster: x, try: [{assert: {cluster: x, resource: " + pod + "}}]}]\n", []string{"not-carried-out:5", "not-carried-out:6", "not-carried-out:7", "not-carried-out:7"}},
		"a namespace of its own":        {begin + "spec:\n  namespaceTemplate: {metadata: {labels: {a: b}}}\n  steps: [{try: [{assert: {resource: " + pod + "}}]}]\n", []string{"not-carried-out:5"}},
		"an invalid binding name":       {begin + "spec:\n  bindings: [{name: a b, value: 1}]\n  steps: [{try: [{assert: {resource: " + pod + "}}]}]\n", []string{"assertion-value:5 invalid name"}},
		"a missing file":                {one("assert: {file: none.yaml}"), []string{"reference:7 0 files"}},
		"a file outside":                {one("assert: {file: ../pod.yaml}"), []string{"reference:7 below the directory"}},
		"a file from the network":       {one("assert: {file: 'https://x/y.yaml'}"), []string{"reference:7 URLs are not supported"}},
		"a file from the root":          {one("assert: {file: /etc/passwd}"), []string{"reference:7"}},
		"a file that the cluster knows": {one("assert: {file: (x_k8s_server_version($config).gitVersion)}"), []string{"reference:7 was not read"}},
		"a file of nothing":             {one("assert: {file: empty.yaml}"), []string{"no-operation: no object"}},
		"a file that is broken":         {one("assert: {file: broken.yaml}"), []string{"syntax:"}},
		"a file with half an object":    {one("error: {file: half.yaml}"), []string{"assertion-value:1 only one of"}},
		"a missing template":            {begin + "spec:\n  steps:\n  - use: {template: none.yaml}\n", []string{"reference:6"}},
		"a template that changes":       {begin + "spec:\n  steps:\n  - use: {template: script.yaml}\n", []string{"refused-operation:6 script"}},
		"a template of nothing":         {begin + "spec:\n  steps:\n  - use: {template: nothing.yaml}\n", []string{"no-operation:5"}},
		"use and try":                   {begin + "spec:\n  steps:\n  - use: {template: step.yaml}\n    try: [{assert: {resource: " + pod + "}}]\n", []string{"assertion-value:6 both"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tests, err := Load("checks/x.yaml", []byte(tt.file), Options{Dir: dir})
			var list diag.List
			if !errors.As(err, &list) || tests != nil {
				t.Fatalf("%v, %v", tests, err)
			}
			for _, want := range tt.want {
				place, words, _ := strings.Cut(want, " ")
				rule, line, _ := strings.Cut(place, ":")
				if !holds(list, rule, line, words) {
					t.Errorf("want %s, got\n%v", want, list)
				}
			}
			for _, p := range list {
				if p.File == "" || p.Remedy == "" || p.Line == 0 && p.Rule != "no-operation" && p.Rule != "syntax" {
					t.Errorf("without place or remedy: %+v", p)
				}
			}
		})
	}
}

func holds(list diag.List, rule, line, words string) bool {
	for _, p := range list {
		if strings.HasPrefix(p.Rule, rule) && strings.Contains(p.Message, words) &&
			(line == "" || strings.HasSuffix(strings.SplitN(p.Pos.String()+":", ":", 3)[1], line)) {
			return true
		}
	}
	return false
}

func load(tb testing.TB, text string, o Options) []*Test {
	tb.Helper()
	if o.Dir == nil {
		o.Dir = dir
	}
	tests, err := Load("checks/x.yaml", []byte(text), o)
	if err != nil {
		tb.Fatal(err)
	}
	return tests
}

func TestLoadReadsFiles(t *testing.T) {
	t.Parallel()
	tests := load(t, one("assert: {file: '*d.yaml'}")+"    - error: {file: list.yaml}\n    - assert: {file: bare.yaml}\n---\n"+one("assert: {resource: "+pod+"}"), Options{})
	if len(tests) != 2 {
		t.Fatal(tests)
	}
	var got []string
	for _, o := range tests[0].Operations() {
		got = append(got, string(o.Kind)+" "+o.Subject()+" "+o.At.String())
	}
	want := []string{"assert Pod ns/a checks/pod.yaml:1:1", "assert Pod ns/b checks/pod.yaml:7:1", "error Pod ns/a checks/list.yaml:3:1", "assert expressions checks/bare.yaml:1:1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLoadUsesTemplates(t *testing.T) {
	t.Parallel()
	tests := load(t, begin+"spec:\n  steps:\n  - use:\n      template: step.yaml\n      with: {bindings: [{name: file, value: pod.yaml}]}\n", Options{})
	if ops := tests[0].Operations(); len(ops) != 2 || ops[1].Resource.GetName() != "b" {
		t.Error(ops)
	}
}

// A timeout is the operation's, else the step's, else the test's, else that of the
// options, else Chainsaw's.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	const steps = "  steps:\n  - timeouts: {assert: 2s, error: 4s}\n    try:\n    - assert: {timeout: 1s, resource: " + pod + "}\n    - assert: {resource: " + pod + "}\n    - error: {timeout: 3s, resource: " + pod + "}\n    - error: {resource: " + pod + "}\n" +
		"  - try:\n    - assert: {resource: " + pod + "}\n    - error: {resource: " + pod + "}\n"
	for name, tt := range map[string]struct {
		spec string
		opts Options
		want [6]int // seconds
	}{
		"chainsaw's":    {"spec:\n" + steps, Options{}, [6]int{1, 2, 3, 4, 30, 30}},
		"the options'":  {"spec:\n" + steps, Options{Assert: 7 * time.Second, Error: 8 * time.Second}, [6]int{1, 2, 3, 4, 7, 8}},
		"those of test": {"spec:\n  timeouts: {assert: 5s, error: 6s}\n" + steps, Options{Assert: time.Hour}, [6]int{1, 2, 3, 4, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ops := load(t, begin+tt.spec, tt.opts)[0].Operations()
			for i, o := range ops {
				if o.Timeout != time.Duration(tt.want[i])*time.Second {
					t.Errorf("operation %d: %s, want %d s", i, o.Timeout, tt.want[i])
				}
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(one("assert: {file: '*.yaml'}")))
	f.Add([]byte(one("error: {resource: {(a)->b: {~i.(c): [1, {d: (cel; 1)}]}}}")))
	f.Add([]byte(begin + "spec:\n  bindings: [{name: a, value: (length('x'))}]\n  scenarios: [{bindings: []}, {}]\n  steps:\n  - use: {template: step.yaml}\n"))
	f.Add([]byte("---\n--- # x\n&a a: *a\n...\n---"))
	f.Add([]byte(begin + "spec:\n  steps: &s\n  - <<: *s\n"))
	cluster := objects(f, kubeDNS, oneNode)
	f.Fuzz(func(t *testing.T, data []byte) {
		tests, err := Load("x.yaml", data, Options{Dir: dir})
		if (err == nil) != (len(tests) > 0) {
			t.Fatalf("%d tests, %v", len(tests), err)
		}
		for _, test := range tests {
			if len(test.Operations()) == 0 {
				t.Error("a test without operations")
			}
			for _, op := range test.Operations() {
				if op.At.Line == 0 || op.Timeout <= 0 {
					t.Errorf("%+v", op)
				}
				r := Runner{Cluster: cluster}.defaults()
				out, err := r.operation(t.Context(), op, [levels]*source{r.source(t.Context()), r.source(t.Context()), r.source(t.Context())}, false)
				if err != nil {
					t.Fatal(err)
				}
				if again := op.Evaluate(out.Seen, Chainsaw); again.Holds != out.Result.Holds && again.Wrong == out.Result.Wrong {
					t.Errorf("%+v, then %+v", out.Result, again)
				}
			}
		}
	})
}
