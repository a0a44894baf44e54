from knights_isolation.reports.pages.board_images import to_image as to_image
from knights_isolation.reports.pages.report_page import write_report as write_report
from knights_isolation.reports.plots import draw_plot as draw_plot
from knights_isolation.reports.replay import replay_of_run as replay_of_run
from knights_isolation.reports.replay import replay_page as replay_page
from knights_isolation.reports.tables.compare import compare_sections as compare_sections
from knights_isolation.reports.tables.ratings import rating_sections as rating_sections
from knights_isolation.reports.tables.summary import summarize as summarize
from knights_isolation.reports.text.rendering import render_sections as render_sections

__version__: str
