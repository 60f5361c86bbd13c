//! `banks`: bank conflicts of shared memory, and the least change that removes them.

use std::fmt;

use serde_json::Value;
use tilewright::{
    ask::{Answer, BankConflicts},
    banks,
    draw::{self, Limits},
    files,
};

use crate::{args::Banks, exit::ExitCode, failure::Failure, output::Output, screen};

pub(super) fn run(args: &Banks, out: &mut Output) -> Result<ExitCode, Failure> {
    let layout = args.array.read()?.layout("spec", &args.spec)?;
    let machine = banks::machine(&args.banks)?;
    let accesses: Vec<&str> = args.access.iter().map(String::as_str).collect();
    let report = BankConflicts::of(&layout, &accesses, args.vector, &machine, args.fix)?;
    if let Some(place) = &args.svg {
        let scene = draw::conflicts(&report, &Limits::default());
        files::write(place, scene.to_svg().as_bytes(), args.force)?;
    }
    let picture = args.draw.then(|| {
        let limits = Limits { rows: 12, columns: 8, ..Limits::default() };
        draw::conflicts(&report, &limits).to_terminal_within(false, screen::width())
    });
    Ok(out.say(&Report { report, all: args.all, picture })?)
}

/// Report with the options of its printing.
struct Report {
    report: BankConflicts,
    /// True to print complete lists.
    all: bool,
    /// The picture after the report.
    picture: Option<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.report.report(self.all))?;
        match &self.picture {
            Some(picture) => write!(f, "\n{picture}"),
            None => Ok(()),
        }
    }
}

impl Answer for Report {
    fn to_json(&self) -> Value {
        self.report.to_json()
    }

    fn is_no(&self) -> bool {
        self.report.is_no()
    }
}
