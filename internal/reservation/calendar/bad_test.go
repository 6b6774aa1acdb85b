package calendar_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config/configtest"
)

func TestWrongFiles(t *testing.T) {
	t.Parallel()
	ofAYear := []string{"margin", "meet", "not-this-year", "time-jumped-over", "time-shown-twice"} // see TestCheck
	configtest.Invalid(t, "testdata/bad", 30, calendar.Parse, calendar.Rules(), ofAYear...)
}
