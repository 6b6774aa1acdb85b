package recipe

import (
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/schedule"
)

// classesOf groups recipes that the scheduler cannot distinguish, the shortest name first. A
// recipe without a scenario is a class of its own.
func classesOf(t *tree.Tree, recipes []string) ([][]string, error) {
	source, problems := schedule.Open(t)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	cases, err := casesOf(source, recipes)
	if err != nil {
		return nil, err
	}
	return schedule.Groups(schedule.OnePerClass(0, cases).Candidates), nil
}
