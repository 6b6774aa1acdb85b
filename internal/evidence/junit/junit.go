// Package junit writes JUnit XML reports of one suite, and reads them.
package junit

import (
	"encoding/xml"
	"fmt"
	"time"
)

// Report is a file with one suite. Write sets its counts.
type Report struct {
	XMLName  xml.Name `xml:"testsuites"`
	Comment  string   `xml:",comment"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"time,attr,omitempty"`
	Suite    Suite    `xml:"testsuite"`
}

// Suite has the cases of a run.
type Suite struct {
	Name       string     `xml:"name,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Properties []Property `xml:"properties>property"`
	Cases      []Case     `xml:"testcase"`
}

// Property is a name with its value.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is one test. It passed if Failure, Error and Skipped are nil.
type Case struct {
	Name      string  `xml:"name,attr"`
	Classname string  `xml:"classname,attr"`
	Time      string  `xml:"time,attr"`
	Failure   *Detail `xml:"failure,omitempty"`
	Error     *Detail `xml:"error,omitempty"`
	Skipped   *Detail `xml:"skipped,omitempty"`
	SystemOut string  `xml:"system-out,omitempty"`
}

// Detail is the reason of a case that did not pass.
type Detail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// Started formats the start of a suite.
func Started(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") }

// Seconds formats a duration.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Write counts the cases and encodes the report.
func Write(r Report) ([]byte, error) {
	s := &r.Suite
	s.Tests, s.Failures, s.Errors, s.Skipped = len(s.Cases), 0, 0, 0
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	r.Name, r.Tests, r.Failures, r.Errors, r.Skipped = "firstlight", s.Tests, s.Failures, s.Errors, s.Skipped
	data, err := xml.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode JUnit XML: %w", err)
	}
	return append([]byte(xml.Header), append(data, '\n')...), nil
}

// Read decodes a report.
func Read(data []byte) (Report, error) {
	var r Report
	if err := xml.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("decode JUnit XML: %w", err)
	}
	return r, nil
}
