package diagram

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestExpressions(t *testing.T) {
	const input = `{"s":"hé","n":9007199254740993,"neg":-7,"f":1.5,"one":1.0,"z":null,"t":true,"a":[3,1,2,1],"o":{"k":{"x":1}},"big":18446744073709551616,"q":"a b&c/d"}`
	for _, tc := range []struct{ template, want string }{
		{"plain", `"plain"`},
		{"", `""`},
		{"}} is text", `"}} is text"`},
		{"{{ input.s }}", `"hé"`},
		{" {{ input.t }}", `" true"`},
		{"{{ input.n }}", `9007199254740993`},
		{"n={{ input.n }}", `"n=9007199254740993"`},
		{"{{ input.n + 1 }}", `9007199254740994`},
		{"{{ input.one }}", `1`},
		{"{{ input.f * 2 }}", `3`},
		{"{{ 7 / 2 }}", `3.5`},
		{"{{ 1e21 }} {{ 1e-7 }}", `"1e+21 1e-7"`},
		{"{{ input.big }}", `18446744073709552000`},
		{"{{ input.z }}", `null`},
		{"[{{ input.z }}]", `"[]"`},
		{"{{ input.missing }}", `null`},
		{"{{ input.missing?.deeper }}", `null`},
		{"{{ input.missing ?? 'none' }}", `"none"`},
		{"{{ input.o }}", `{"k":{"x":1}}`},
		{"o: {{ input.o }}", `"o: {\"k\":{\"x\":1}}"`},
		{"{{ {'b': 1, 'a': {'c': 2}} }}", `{"a":{"c":2},"b":1}`},
		{"{{ {'a': '}}'} }}", `{"a":"}}"}`},
		{"{{ '{{' }}", `"{{"`},
		{"{{ `\\` }}", `"\\"`},
		{"{{ 'it\\'s }}' }}", `"it's }}"`},
		{"{{ input.a }}{{ input.a[0] }}", `"[3,1,2,1]3"`},
		{"{{ input.a[-1] }}", `1`},
		{"{{ map(input.a, # * 2) }}", `[6,2,4,2]`},
		{"{{ filter(input.a, # > 1) | sort() }}", `[2,3]`},
		{"{{ sortBy(input.a, -#) }}", `[3,2,1,1]`},
		{"{{ uniq(input.a) }}", `[3,1,2]`},
		{"{{ sum(input.a) + len(input.a) }}", `11`},
		{"{{ reduce(input.a, #acc + #, 100) }}", `107`},
		{"{{ 1..3 }}", `[1,2,3]`},
		{"{{ groupBy(input.a, # > 1) }}", `{"false":[1,1],"true":[3,2]}`},
		{"{{ split('a,b', ',') }}", `["a","b"]`},
		{"{{ join(split('a,b', ','), '-') }}", `"a-b"`},
		{"{{ join(input.a) }}", `"3121"`},
		{"{{ replace('aXbX', 'X', '--') }}", `"a--b--"`},
		{"{{ repeat('ab', 3) }}", `"ababab"`},
		{"{{ upper(input.s) + '!' }}", `"HÉ!"`},
		{"{{ input.s matches '^h.$' }}", `true`},
		{"{{ 2 in input.a }}", `true`},
		{"{{ 'k' in input.o }}", `true`},
		{"{{ input.o == {'k': {'x': 1}} }}", `true`},
		{"{{ input.t ? 'yes' : 'no' }}", `"yes"`},
		{"{{ let x = input.n; x - 1 }}", `9007199254740992`},
		{"{{ toJSON(input.o) }}", `"{\"k\":{\"x\":1}}"`},
		{"{{ fromJSON('[9007199254740993]')[0] }}", `9007199254740993`},
		{"{{ string(input.o) }}", `"{\"k\":{\"x\":1}}"`},
		{"{{ int('12') + 1 }}", `13`},
		{"{{ urlEncode(input.q) }}", `"a%20b%26c%2Fd"`},
		{"{{ input.neg % 4 }}", `-3`},
		{"{{ -0.0 }}", `0`},
		{"{{ toPairs({'a': 1}) }}", `[["a",1]]`},
		{"{{ [1, [2, [3]]] | flatten() }}", `[1,2,3]`},
	} {
		t.Run(tc.template, func(t *testing.T) {
			got, err := outputOf(t, tc.template, input)
			if want := `{"v":` + tc.want + `}`; err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
}

func TestExpressionErrors(t *testing.T) {
	for _, tc := range []struct{ template, code, message string }{
		{"{{ input.a.b.c }}", CodeExpression, "output.v: cannot fetch"},
		{"{{ 1 / 0 }}", CodeExpression, "not finite"},
		{"{{ 1 % 0 }}", CodeExpression, "divide"},
		{"{{ input.s + 1 }}", CodeExpression, "output.v: "},
		{"{{ [1][5] }}", CodeExpression, "out of range"},
		{"{{ int('x') }}", CodeExpression, "output.v: "},
		{"{{ fromJSON('{') }}", CodeExpression, "output.v: "},
		{"{{ join([1], 2) }}", CodeExpression, "separator"},
		{"{{ repeat('a', -1) }}", CodeExpression, "repeat takes"},
		{"{{ replace(1, 2, 3) }}", CodeExpression, "must be a string"},
		{"{{ repeat('a', 2000000) }}", CodeTooLarge, "larger than 1024 KiB"},
		{"a{{ repeat('a', 2000000) }}", CodeTooLarge, "larger than 1024 KiB"},
	} {
		t.Run(tc.template, func(t *testing.T) {
			_, err := outputOf(t, tc.template, `{"s":"x"}`)
			var e *Error
			if !errors.As(err, &e) || e.Code != tc.code || !strings.Contains(e.Message, tc.message) || strings.Contains(e.Message, "\n") {
				t.Errorf("got %#v, want %s with %q", err, tc.code, tc.message)
			}
		})
	}
}

// TestHostileExpressions: each would take hours or all memory if it were let run.
func TestHostileExpressions(t *testing.T) {
	doubling := func(start, step string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "{{ let a0 = %s; ", start)
		for i := range 60 {
			fmt.Fprintf(&b, "let a%d = %s; ", i+1, strings.ReplaceAll(step, "x", fmt.Sprintf("a%d", i)))
		}
		return b.String()
	}
	long := `{"s":"` + strings.Repeat("a", 700_000) + `","l":[` + strings.Repeat("1,", 100_000) + `1]}`
	for _, tc := range []struct{ name, template string }{
		{"nested loops", "{{ let a = 1..1000; count(a, count(a, count(a, count(a, true) > 0) > 0) > 0) }}"},
		{"nested loops in all", "{{ let a = 1..1000; all(a, all(a, all(a, all(a, true)))) }}"},
		{"loops without a body to speak of", "{{ let a = 1..1000; map(a, map(a, map(a, 1))) }}"},
		{"huge range", "{{ 1..1000000000 }}"},
		{"sum of a huge range", "{{ sum(1..1000000000) }}"},
		{"many ranges", "{{ map(1..999, map(1..99999, 1)) }}"},
		{"text that doubles", doubling("'aaaaaaaa'", "x + x") + "len(a60) }}"},
		{"text that doubles in a loop", "{{ len(reduce(1..100, #acc + #acc, 'aaaa')) }}"},
		{"list that doubles", doubling("[1,2,3,4]", "concat(x, x)") + "len(a60) }}"},
		{"shared list as output", doubling("[1]", "[x, x]") + "a60 }}"},
		{"shared list to JSON", doubling("[1]", "[x, x]") + "len(toJSON(a60)) }}"},
		{"shared list to text", doubling("[1]", "[x, x]") + "'' + string(a60) }}"},
		{"shared list flattened", doubling("[1]", "[x, x]") + "len(flatten(a60)) }}"},
		{"shared lists compared", doubling("[1]", "[x, x]") + "a60 == a60 }}"},
		{"shared map", doubling("{'k': 1}", "{'a': x, 'b': x}") + "a60 }}"},
		{"repeat", "{{ len(repeat(input.s, 1000000)) }}"},
		{"repeat without end", "{{ repeat('', 9223372036854775807) }}"},
		{"repeat of repeats", "{{ len(repeat(repeat(repeat('aaaaaaaaaa', 1000), 1000), 1000)) }}"},
		{"replace", "{{ len(replace(input.s, 'a', input.s)) }}"},
		{"replace of nothing", "{{ len(replace(input.s, '', input.s)) }}"},
		{"join", "{{ len(join(input.l, input.s)) }}"},
		{"split in a loop", "{{ map(input.l, len(split(input.s, ''))) }}"},
		{"upper in a loop", "{{ map(input.l, len(upper(input.s))) }}"},
		{"length in a loop", "{{ map(input.l, len(input.s)) }}"},
		{"search in a loop", "{{ map(input.l, 2 in input.l) }}"},
		{"contains in a loop", "{{ map(input.l, input.s contains 'b') }}"},
		{"sort in a loop", "{{ map(input.l, sort(input.l)) }}"},
		{"uniq in a loop", "{{ map(input.l, uniq(input.l)) }}"},
		{"regular expression", "{{ input.s matches '(a|aa|aaa){100}b' }}"},
		{"regular expression in a loop", "{{ map(input.l, input.s matches 'b$') }}"},
		{"depth in a loop", "{{ len(string(reduce(1..100000, [#acc], 0))) }}"},
		{"depth as output", "{{ reduce(1..100000, [#acc], 0) }}"},
		{"depth flattened", "{{ len(flatten(reduce(1..100000, [#acc], 0))) }}"},
		{"base64 in a loop", "{{ map(input.l, toBase64(input.s)) }}"},
		{"min in a loop", "{{ map(input.l, min(input.l)) }}"},
		{"fromJSON in a loop", "{{ map(input.l, fromJSON('[' + repeat('1,', 10000) + '1]')) }}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := outputOf(t, tc.template, long)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeLimit && !strings.Contains(e.Message, errDepth.Error()) {
				t.Fatalf("got %v, want %s", outcome(err), CodeLimit)
			}
			// The times are far above what is needed on a quiet machine, far below hours.
			if took > 30*time.Second || after.TotalAlloc-before.TotalAlloc > 1<<30 {
				t.Errorf("took %s and %d MiB: %v", took, (after.TotalAlloc-before.TotalAlloc)>>20, err)
			}
			t.Logf("%s, %d MiB: %v", took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, err)
		})
	}
}

// TestSplitIsLossless: the segments put together again are the template.
func TestSplitIsLossless(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"{{", "}}", "{", "}", "'", `"`, "`", `\`, "a", " ", "é"})).Draw(rt, "s"), "")
		segments, err := split(s)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, seg := range segments {
			if seg.isExpression {
				b.WriteString("{{" + seg.text + "}}")
				continue
			}
			b.WriteString(seg.text)
		}
		if b.String() != s {
			rt.Fatalf("%q became %q", s, b.String())
		}
	})
}

// TestCanonical: encoding what was decoded gives the same bytes from then on.
func TestCanonical(t *testing.T) {
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "b") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Int().Draw(t, "i") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.Float64().Draw(t, "f") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "s") }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		v := map[string]any{"m": rapid.MapOf(rapid.String(), leaf).Draw(rt, "m"), "l": rapid.SliceOf(leaf).Draw(rt, "l")}
		first, err := encode(v, MaxOutput)
		if err != nil {
			if strings.Contains(err.Error(), "finite") {
				return
			}
			rt.Fatal(err)
		}
		again, err := decode(first)
		if err != nil {
			rt.Fatalf("%s: %v", first, err)
		}
		second, err := encode(again, MaxOutput)
		if err != nil || string(second) != string(first) {
			rt.Fatalf("%s became %s, %v", first, second, err)
		}
	})
}
