package submission

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
)

const junitFile = "junit.xml"

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Comment  string     `xml:",comment"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Timestamp  string          `xml:"timestamp,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	Classname string       `xml:"classname,attr"`
	Time      string       `xml:"time,attr"`
	Failure   *junitDetail `xml:"failure,omitempty"`
	Error     *junitDetail `xml:"error,omitempty"`
	Skipped   *junitDetail `xml:"skipped,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

// junit has one case for each requirement. Only Implemented passes: partial and unobserved
// requirements are errors.
func (s *Submission) junit(run Run) ([]byte, error) {
	suite := junitSuite{
		Name: "CNCF AI Conformance " + s.Version, Timestamp: run.Started.UTC().Format("2006-01-02T15:04:05"),
		Time: seconds(run.Finished.Sub(run.Started).Seconds()),
		Properties: []junitProperty{
			{"run", run.ID},
			{"cluster", run.Cluster},
			{"simulated", fmt.Sprint(run.Simulated)},
		},
	}
	for _, e := range s.Entries {
		suite.add(e)
	}
	all := junitSuites{Name: "firstlight", Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped, Suite: suite}
	if len(s.Draft) > 0 {
		all.Comment = " " + draftMark + " "
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", junitFile, err)
	}
	return append([]byte(xml.Header), append(data, '\n')...), nil
}

func (s *junitSuite) add(e Filled) {
	c := junitCase{Name: e.ID, Classname: "conformance." + e.Category, Time: seconds(e.Took.Seconds())}
	d := &junitDetail{Message: oneLine(strings.ToValidUTF8(e.Reason, "?")), Type: strings.ToLower(string(e.Status))}
	s.Tests++
	switch e.Status {
	case Implemented:
	case NotImplemented:
		s.Failures++
		c.Failure = d
	case NotApplicable:
		s.Skipped++
		c.Skipped = d
	case PartiallyImplemented:
		s.Errors++
		c.Error = d
	case "":
		if e.Level == catalog.Should {
			s.Skipped++
			c.Skipped = &junitDetail{Message: oneLine(e.Notes), Type: "left open"}
			break
		}
		fallthrough
	default:
		s.Errors++
		c.Error = &junitDetail{Message: oneLine(e.NoStatus), Type: "unobserved"}
	}
	s.Cases = append(s.Cases, c)
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }
