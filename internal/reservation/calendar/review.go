package calendar

import "github.com/firstlight/firstlight/internal/diag"

// Review is the result of Check for a year, with what was checked.
type Review struct {
	Year        int `json:"year"`
	Entries     int `json:"entries"`
	Margins     int `json:"margins"`
	Occurrences int `json:"occurrences"`
	// Changes of the clocks of the schedule's zones.
	Changes  []ZoneChange `json:"changes"`
	Problems []Problem    `json:"problems"`
}

// Review checks a year.
func (s *Schedule) Review(number int) Review {
	r := Review{Year: number, Entries: len(s.entries), Margins: len(s.margins), Changes: s.Changes(number), Problems: s.Check(number)}
	if r.Changes == nil {
		r.Changes = []ZoneChange{}
	}
	if r.Problems == nil {
		r.Problems = []Problem{}
	}
	y := s.around(number)
	for _, e := range s.entries {
		r.Occurrences += y.count(e.Name)
	}
	return r
}

// Count returns the number of problems with a severity.
func (r Review) Count(of diag.Severity) int {
	n := 0
	for _, p := range r.Problems {
		if p.Severity == of {
			n++
		}
	}
	return n
}
