//! 7.4: what is said about a wrong trace.

/// A key and the words for it.
pub type Says = (&'static str, &'static str);

pub const NOT_JSON: Says = (
    "7.4-not-json",
    "A viewer reads all of the text before it shows anything. One character that JSON does not \
     know, and the whole trace is lost.",
);
pub const TRAILING: Says = (
    "7.4-trailing-comma",
    "A comma stands behind the last element. JSON does not allow that: put commas between \
     elements, as `join` does.",
);
pub const COMMAS: Says = (
    "7.4-no-commas",
    "Two objects follow each other without a comma. The elements of a list are separated by \
     commas; a new line alone is only a space.",
);
pub const NO_OBJECT: Says = (
    "7.4-no-list",
    "The text is JSON, but not an object whose field `traceEvents` is a list of objects.",
);
pub const FIELD: Says = (
    "7.4-field-missing",
    "A field is missing, or what it holds is not of the kind that a viewer looks for there.",
);
pub const NUMBER_AS_TEXT: Says = (
    "7.4-number-as-text",
    "A number stands in quotes, so it is a text. Numbers are written as they are.",
);
pub const BEGIN_END: Says = (
    "7.4-begin-and-end",
    "Pairs of `B` and `E` must come in the order of their times and nest on each lane. A complete \
     event, `X`, says both in one object, in any order.",
);
pub const NO_EVENTS: Says =
    ("7.4-no-events", "No object has the `ph` of a complete event, `X`. Each event needs one.");
pub const LOST: Says = (
    "7.4-events-lost",
    "Some events are missing, or some are there that were not given. Each event is an object of \
     its own, also if it took 0 ns, or ran on a device, or no arrow leads to it.",
);
pub const TWICE_WRITTEN: Says = (
    "7.4-events-twice",
    "An event stands in the trace more than once. A call that asked for several kernels is still \
     one event.",
);
pub const EMPTY: Says = (
    "7.4-empty",
    "Without events there is no earliest start: `min()` is `None` then. The trace of an idle \
     program is an empty list, and no reason to panic.",
);
pub const NEGATIVE: Says = (
    "7.4-below-zero",
    "A time went below 0. The events are in no order of time, so the first of the list is not the \
     earliest: take the minimum of all starts.",
);
pub const NO_PROCESSES: Says = (
    "7.4-process-without-name",
    "A process that has events has no name, and a viewer shows its number alone. Host and devices \
     each need an object with `ph` `M`.",
);
pub const PROCESS: Says = (
    "7.4-process-name",
    "A process has another name than its own. Process 1 is `host`, and process 2 + d is `device \
     d`: the number of the device, and not of the process.",
);

pub const NAME_BREAKS: Says = (
    "7.4-name-breaks-json",
    "With this name the text is no JSON any more. Quote, backslash and all characters below U+0020 \
     must be escaped, by one of JSON's nine escapes.",
);
pub const NAME_CHANGED: Says = (
    "7.4-name-changed",
    "The trace is JSON, but the name in it is another one. Escapes change how a name is written; \
     whoever reads it gets the same characters back.",
);
pub const AS_THEY_ARE: &str = "Names were written as they are. A quote in one ends the text there, \
    and a backslash eats what follows it: escape both, and all characters below U+0020.";
pub const DEBUG: &str = "Names were escaped as Rust does it. `{:?}` looks like JSON until a \
    control character comes: Rust writes `\\u{1}`, JSON knows only four digits without braces. It \
    also escapes what need not be, in ways that JSON has not.";
pub const QUOTE_LEFT: &str = "A quote was not escaped. It ends the text, and the rest of the name \
    stands outside.";
pub const BACKSLASH_LEFT: &str = "A backslash was not escaped. It makes an escape of the character \
    behind it, which is a wrong one or none.";
pub const CONTROLS_LEFT: &str = "Quote and backslash are escaped, but control characters stand as \
    they are. JSON allows none below U+0020 in a text, not even a newline.";
pub const OTHERS_LEFT: &str = "Newline, tab and return are escaped, and the other characters below \
    U+0020 are not. There are 32 of them; `\\u001b` and its like serve for all.";
pub const QUOTE_FIRST: &str = "The quotes were escaped first and the backslashes then, so that the \
    new backslashes were escaped too. Go through the characters once, or take the backslash first.";
pub const TWICE: &str = "Names were escaped twice. They come back with the backslashes of the \
    first time in them.";
pub const HEX: &str = "A control character was written as `\\x01`. That is an escape of Rust and \
    C; JSON has `\\u0001`.";
pub const SHORT: &str = "A control character was written with fewer than four digits. JSON takes \
    exactly four: `{:04x}`.";
pub const DECIMAL: &str = "The number of a control character was written in decimal. The digits \
    are hexadecimal: U+0010 is `\\u0010`, and its number is 16.";
pub const CHANGED: &str = "Characters of the name were left out or replaced. Every text is a name, \
    and comes back as it was.";
pub const BYTES: &str = "The name was taken apart into bytes, and each became a character. One \
    beyond ASCII has several bytes in UTF-8: go through `chars()`.";
pub const NO_PAIRS: &str = "A character beyond U+FFFF was written with five digits, of which JSON \
    takes four. It would need two escapes, but it needs none: such characters may stand as they \
    are.";
pub const ASCII: &str = "Characters beyond ASCII were lost. They may stand as they are: JSON is \
    Unicode.";
pub const HTML: &str = "Names were escaped for HTML. JSON knows no `&quot;`: it comes back as six \
    characters.";
pub const APOSTROPHE: &str = "An apostrophe was escaped. JSON has no `\\'`, and needs none.";

pub const UNIT: &str = "The times are in another unit. The format counts in microseconds: 2,005 ns \
    are 2.005.";
pub const DUR: &str = "`dur` is when the event ended. It is how long it took: the end less the \
    event's own start.";
pub const FIRST_IN_LIST: &str = "`ts` counts from the start of the first event in the list. The \
    list is in no order of time: take the minimum of all starts.";
pub const ONE_CLOCK: &str = "`ts` of different processes or lanes counts from different moments. \
    One time line needs one beginning, or a kernel seems to run before its launch.";
pub const WHOLE: &str = "Digits behind the point were lost. A small kernel takes 1.501 us, and a \
    gap between two of them 300 ns: write the nanoseconds as three digits.";
pub const ROUNDED_ENDS: &str = "Both ends were rounded to microseconds before the subtraction. \
    Take `dur` from the nanoseconds: rounded ends are off by up to 1 us.";
pub const UNPADDED: &str = "The digits behind the point lack their zeros. 2,005 ns are 2.005 and \
    not 2.5: `{:03}` writes all three.";
pub const FLOATS: &str = "The times became floats before the subtraction. Nanoseconds since 1970 \
    have 19 digits and an `f64` holds 16: steps of 256 ns remain. Subtract the integers.";
pub const ABSOLUTE: &str = "`ts` counts from 1970. The text may be exact, but a viewer reads it as \
    an `f64`, which has steps of 0.25 us there. Subtract the earliest start.";
pub const SINGLE: &str = "The times went through an `f32`, which holds 7 digits. After 16 seconds \
    its steps are longer than a microsecond.";

pub const ONE_PROCESS: &str = "What ran on a device stands in the host's process. Then a thread \
    and a stream with the same number share one lane, and their events overlap.";
pub const ALL_DEVICES: &str = "All devices share one process. Stream 0 of one and stream 0 of \
    another run side by side: each device needs a process of its own.";
pub const DEVICE_ZERO: &str =
    "Device 0 has the host's process. The host is 1, so device d is 2 + d.";
pub const FROM_ZERO: &str = "The processes are counted from 0. The host is 1, device d is 2 + d: \
    some viewers take process 0 for the idle system.";
pub const EXCHANGED: &str = "`pid` and `tid` are exchanged. `pid` says host or device, `tid` the \
    lane in it.";
pub const LANE: &str = "`tid` is not the event's lane. Events of one thread or stream share a \
    line, and those of another one have their own.";

pub const NO_ARROWS: Says = (
    "7.4-no-arrows",
    "No arrow leads from a launch to its kernel. Each event with a cause needs two more objects, \
     `s` and `f`.",
);
pub const HALF: Says = (
    "7.4-half-an-arrow",
    "There are not as many beginnings of arrows as ends. Each arrow has both, also where several \
     begin at the same call.",
);
pub const FOR_EVERY_EVENT: Says = (
    "7.4-arrow-for-every-event",
    "Every event has an arrow. Only those with a cause have one: `None` is not the event at 0.",
);
pub const ONE_A_CAUSE: Says = (
    "7.4-one-arrow-a-cause",
    "A call that asked for several kernels has one arrow. Each of the kernels needs its own.",
);
pub const CAUSE_ZERO: Says = (
    "7.4-cause-zero",
    "The arrow is missing where the cause is the first event of the list. `Some(0)` is a cause \
     like any other.",
);
pub const COUNT: Says =
    ("7.4-arrows-missing", "There are more or fewer arrows than events with a cause.");
pub const BACKWARDS: &str = "The arrows point backwards. `s` stands at the call that asks, `f` at \
    the work that follows from it.";
pub const BOTH: &str = "Both ends of an arrow are on the same lane. `s` has `pid` and `tid` of the \
    cause, `f` those of the event.";
pub const UPRIGHT: &str = "Both ends of an arrow have the same time. `s` has that of the cause and \
    `f` that of the event: what lies between is how long the work waited.";
pub const AT_END: &str = "An end of an arrow stands where an event ends. A viewer ties it to what \
    is there at that moment, which may be the next event. Both ends stand at starts.";
pub const BINDING: Says = (
    "7.4-no-binding-point",
    "The end of an arrow lacks `bp`. Without it a viewer ties it to the next event that begins, \
     and the arrow points at the wrong kernel.",
);
pub const TWO_IDS: Says = (
    "7.4-two-ids",
    "The ends of an arrow have different ids, so that they do not find each other.",
);
pub const TWO_NAMES: Says = (
    "7.4-two-names",
    "The ends of an arrow differ in `name` or `cat`. A viewer joins what agrees in both and in \
     `id`.",
);
pub const ONE_ID: Says = (
    "7.4-one-id",
    "All arrows have the same id. A viewer takes them for one arrow that runs through all events.",
);
pub const ID_OF_CAUSE: Says = (
    "7.4-id-of-cause",
    "The id is that of the cause. A call can ask for several kernels, and their arrows would share \
     it: the place of the event that was asked for is unique.",
);
pub const ID_OF_PLACE: Says = (
    "7.4-id-shared",
    "Some arrows share an id. Each needs a number that no other arrow has, such as the place of \
     its event in the list.",
);
