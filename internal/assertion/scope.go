package assertion

import (
	"cmp"
	"context"
	"fmt"

	"github.com/kyverno/chainsaw/pkg/apis"
	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	bound "github.com/kyverno/chainsaw/pkg/engine/bindings"
	"github.com/kyverno/kyverno-json/pkg/core/compilers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scope holds the bindings by level and the compilers of expressions.
type scope struct {
	at       [levels]*source
	bindings apis.Bindings
	compiler *v1alpha1.Compiler
	level    int
}

// Values of $test, $step and $operation, as in Chainsaw's runner.
type (
	testInfo struct {
		Id         int //nolint:revive // expressions say $test.id
		ScenarioId int //nolint:revive // and $test.scenarioId
		Metadata   metav1.ObjectMeta
	}
	stepInfo struct {
		Id int //nolint:revive // expressions say $step.id
	}
	operationInfo struct {
		Id         int //nolint:revive // expressions say $operation.id
		ResourceId int //nolint:revive // and $operation.resourceId
	}
)

// bind resolves all bindings of an operation.
func (s *scope) bind(o *Operation) error {
	if err := s.test(o.Test); err != nil {
		return err
	}
	if err := s.step(o.Step); err != nil {
		return err
	}
	return s.operation(o)
}

func (s *scope) test(t *Test) error {
	s.level, s.bindings, s.compiler = levelTest, apis.NewBindings(), nil
	s.register("values", t.values)
	s.register("client", s.at[levelTest])
	s.register("config", s.at[levelTest])
	s.register("test", testInfo{Id: t.Number, ScenarioId: t.Scenario, Metadata: t.meta})
	if err := s.add(t.scenario); err != nil {
		return fmt.Errorf("bindings of scenario %d: %w", t.Scenario, err)
	}
	s.use(t.compiler)
	if t.Namespace != "" {
		s.register("namespace", t.Namespace)
	}
	if err := s.add(t.bindings); err != nil {
		return fmt.Errorf("bindings of test %s: %w", t.Name, err)
	}
	return nil
}

func (s *scope) step(step *Step) error {
	s.enter(levelStep)
	s.register("step", stepInfo{Id: step.Number})
	s.use(step.compiler)
	if err := s.add(step.bindings); err != nil {
		return fmt.Errorf("bindings of step %s: %w", step.Name, err)
	}
	return nil
}

func (s *scope) operation(o *Operation) error {
	s.enter(levelOperation)
	s.register("operation", operationInfo{Id: o.Number, ResourceId: o.Object})
	s.use(o.compiler)
	if err := s.add(o.bindings); err != nil {
		return fmt.Errorf("bindings of the operation: %w", err)
	}
	return nil
}

// enter assigns further reads to a level.
func (s *scope) enter(level int) {
	s.level = level
	s.register("client", s.at[level])
	s.register("config", s.at[level])
}

func (s *scope) use(c *v1alpha1.Compiler) {
	if c != nil {
		s.compiler = c
	}
}

func (s *scope) register(name string, value any) {
	s.bindings = bound.RegisterBinding(s.bindings, name, value)
}

func (s *scope) add(list []v1alpha1.Binding) error {
	for _, b := range list {
		name, value, err := bound.ResolveBinding(context.Background(), s.compilers(), s.bindings, nil, b) //nolint:forbidigo // Chainsaw's does nothing with it
		if err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		s.register(name, value)
	}
	return nil
}

func (s *scope) compilers() compilers.Compilers { return s.with(nil) }

// with returns the level's compilers with the default of c or of the scope.
func (s *scope) with(c *v1alpha1.Compiler) compilers.Compilers {
	out := s.at[s.level].compile
	if c = cmp.Or(c, s.compiler); c != nil {
		out = out.WithDefaultCompiler(string(*c))
	}
	return out
}

// parses compiles the expressions of an object.
func parses(o *Operation, tree map[string]any) error {
	s := scope{at: [levels]*source{replay(Level{})}}
	for _, c := range []*v1alpha1.Compiler{o.Test.compiler, o.Step.compiler, o.compiler} {
		s.use(c)
	}
	check := v1alpha1.NewCheck(tree)
	if _, err := check.Compile(nil, s.compilers()); err != nil {
		return fmt.Errorf("cannot compile the expression: %w", err)
	}
	return nil
}
