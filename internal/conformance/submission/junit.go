package submission

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/evidence/junit"
)

const junitFile = "junit.xml"

// junit has one case for each requirement. Only Implemented passes: partial and unobserved
// requirements are errors.
func (s *Submission) junit(run Run) ([]byte, error) {
	suite := junit.Suite{
		Name: "CNCF AI Conformance " + s.Version, Timestamp: junit.Started(run.Started), Time: junit.Seconds(run.Finished.Sub(run.Started)),
		Properties: []junit.Property{
			{Name: "run", Value: run.ID},
			{Name: "cluster", Value: run.Cluster},
			{Name: "simulated", Value: fmt.Sprint(run.Simulated)},
		},
	}
	for _, e := range s.Entries {
		suite.Cases = append(suite.Cases, junitCase(e))
	}
	r := junit.Report{Suite: suite}
	if len(s.Draft) > 0 {
		r.Comment = " " + draftMark + " "
	}
	return junit.Write(r)
}

func junitCase(e Filled) junit.Case {
	c := junit.Case{Name: e.ID, Classname: "conformance." + e.Category, Time: junit.Seconds(e.Took)}
	d := &junit.Detail{Message: oneLine(strings.ToValidUTF8(e.Reason, "?")), Type: strings.ToLower(string(e.Status))}
	switch e.Status {
	case Implemented:
	case NotImplemented:
		c.Failure = d
	case NotApplicable:
		c.Skipped = d
	case PartiallyImplemented:
		c.Error = d
	case "":
		if e.Level == catalog.Should {
			c.Skipped = &junit.Detail{Message: oneLine(e.Notes), Type: "left open"}
			break
		}
		fallthrough
	default:
		c.Error = &junit.Detail{Message: oneLine(e.NoStatus), Type: "unobserved"}
	}
	return c
}
