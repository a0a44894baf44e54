// A player of knight's Isolation in one file: alpha-beta by mobility, spoken to over UGI.
// Build it with: g++ -O2 -std=c++17 -pthread -o player player.cpp
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
const Clock::time_point NEVER = Clock::time_point::max();
const int NOWHERE = -1, WIN = 100000, DEEPEST = 1000;

struct Position {
    int rows = 7, columns = 7, turn = 0;
    int at[2] = {NOWHERE, NOWHERE};      // the cell of each player, row by row from the top
    std::vector<bool> closed = std::vector<bool>(49);
    std::vector<int> moves(int player) const {
        std::vector<int> found;
        for (int row = 0; row < rows; row++)
            for (int column = 0; column < columns; column++) {
                if (closed[row * columns + column]) continue;
                int down = abs(row - at[player] / columns), right = abs(column - at[player] % columns);
                if (at[player] == NOWHERE || down * right == 2) found.push_back(row * columns + column);
            }
        return found;
    }
    Position after(int cell) const {
        Position next = *this;
        next.closed[cell] = true;
        next.at[turn] = cell;
        next.turn = 1 - turn;
        return next;
    }
    static std::string file(int at) { return (at < 26 ? "" : file(at / 26 - 1)) + char('a' + at % 26); }
    // Ranks count from 1 at the bottom.
    std::string square(int cell) const { return file(cell % columns) + std::to_string(rows - cell / columns); }
    std::string name(int cell) const { return (at[turn] == NOWHERE ? "N@" : square(at[turn])) + square(cell); }
};

Position read_fen(const std::string& board, const std::string& side) {
    Position position;
    position.closed.clear();
    position.rows = 1;
    for (size_t i = 0; i < board.size() && board[i] != '['; i++) {
        int cell = position.closed.size();
        if (board[i] == '/') position.rows++;
        else if (isdigit(board[i])) {
            int open = std::stoi(board.substr(i));
            i += std::to_string(open).size() - 1;
            position.closed.resize(cell + open, false);
        } else {
            if (board[i] != '*') position.at[board[i] == 'n'] = cell;
            position.closed.push_back(true);
        }
    }
    position.columns = position.closed.size() / position.rows;
    position.turn = side == "b";
    return position;
}

struct Search {
    std::atomic<bool> stopped{false};
    long nodes = 0, most_nodes = 0;
    Clock::time_point end = NEVER;

    bool over() { return stopped || (most_nodes && nodes >= most_nodes) || (nodes % 256 == 0 && Clock::now() >= end); }
    int value(const Position& position, int depth, int alpha, int beta) {
        nodes++;
        std::vector<int> own = position.moves(position.turn);
        if (own.empty()) return -WIN;
        if (depth == 0) return int(own.size()) - int(position.moves(1 - position.turn).size());
        for (int cell : own) {
            if (over()) { stopped = true; return 0; }
            alpha = std::max(alpha, -value(position.after(cell), depth - 1, -beta, -alpha));
            if (alpha >= beta) break;
        }
        return alpha;
    }
    // Deepens until a limit; a move of the last finished depth, or the first there is.
    void think(const Position& position, int most_depth, bool waits) {
        std::vector<int> own = position.moves(position.turn);
        int best = own.empty() ? NOWHERE : own[0];
        for (int depth = 1; !own.empty() && depth <= most_depth && !stopped; depth++) {
            int chosen = NOWHERE, highest = -2 * WIN;
            for (int cell : own) {
                int score = -value(position.after(cell), depth - 1, -2 * WIN, -highest);
                if (stopped) break;
                if (score > highest) highest = score, chosen = cell;
            }
            if (stopped) break;
            best = chosen;
            bool ends = abs(highest) >= WIN;
            std::cout << "info depth " << depth << " nodes " << nodes << (ends ? " score mate " : " score cp ")
                      << (ends ? highest / WIN * depth : 100 * highest) << " pv " << position.name(best) << std::endl;
            if (ends) break;
        }
        while (waits && !stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::cout << "bestmove " << (best == NOWHERE ? "(none)" : position.name(best)) << std::endl;
    }
};

Position read_position(std::istringstream& words) {
    std::string kind, board, side, word;
    Position position;
    if (words >> kind && kind == "fen" && words >> board >> side) position = read_fen(board, side);
    while (words >> word && word != "moves") {}
    while (words >> word)
        for (int cell : position.moves(position.turn))
            if (position.name(cell) == word) { position = position.after(cell); break; }
    return position;
}

int main() {
    Position position;
    Search search;
    std::thread thinking;
    auto finish = [&] { search.stopped = true; if (thinking.joinable()) thinking.join(); };
    for (std::string line, first; std::getline(std::cin, line) && line != "quit";) {
        std::istringstream words(line);
        if (!(words >> first)) continue;
        if (first == "ugi") std::cout << "id name player.cpp\nid author nobody\nugiok" << std::endl;
        if (first == "isready") std::cout << "readyok" << std::endl;
        if (first == "stop") finish();
        if (first == "position") finish(), position = read_position(words);
        if (first == "query" && words >> first) {
            bool over = position.moves(position.turn).empty();
            std::string answer = over ? position.turn ? "p1win" : "p2win" : "none";
            if (first != "result") answer = (first == "p1turn" ? !position.turn : over) ? "true" : "false";
            std::cout << "response " << answer << std::endl;
        } else if (first == "go") {
            finish();
            std::map<std::string, long> limits;
            for (std::string name; words >> name;) { limits[name] = 0; if (name != "infinite") words >> limits[name]; }
            std::string mine = position.turn ? "p2" : "p1";
            long time = limits[mine + "time"] / 20 + limits[mine + "inc"] / 2;  // in milliseconds
            if (limits["movetime"]) time = std::max(1L, limits["movetime"] - 10);
            search.stopped = false, search.nodes = 0, search.most_nodes = limits["nodes"];
            search.end = time ? Clock::now() + std::chrono::milliseconds(time) : NEVER;
            int depth = limits["depth"] ? limits["depth"] : DEEPEST;
            bool waits = limits.count("infinite");
            thinking = std::thread([&search, position, depth, waits] { search.think(position, depth, waits); });
        }
    }
    finish();
}
